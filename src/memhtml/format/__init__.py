"""Bytes to values and back: the memory file format. Pure: no files, SQL, git, clock, network."""
