"""Words and values. Imports nothing of ours, does no I/O."""
