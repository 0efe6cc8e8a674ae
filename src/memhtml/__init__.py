"""Long-term memory for AI agents and people, as a git repository of HTML files."""
