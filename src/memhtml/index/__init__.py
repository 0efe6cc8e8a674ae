"""SQLite: a projection of the tree that can be deleted."""
