"""The rules of the format, one family a module, each with its codes."""
