"""The store as a Model Context Protocol server: tools, resources and prompts over one `Corpus`."""
