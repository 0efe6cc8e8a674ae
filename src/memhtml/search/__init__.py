"""A question in, ranked memories out."""
