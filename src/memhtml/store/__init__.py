"""The tree: a git repository. The only writer."""
