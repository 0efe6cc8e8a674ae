"""A store behind the interfaces of agent frameworks; each module needs the extra of its name.

They map, and nothing else: what they do is done by the corpus they are given.
"""
