"""The ``memhtml`` command."""
