"""``python -m memhtml``, and the ``memhtml`` command."""
