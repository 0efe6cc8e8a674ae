"""What the doors answer, declared once: each answer as JSON, and the schema that describes it.

Names are in snake_case here, as MCP tools give them; the command line's documents have the same
members in camelCase, and so have their schemas. See `memhtml.answers.casing`.
"""
