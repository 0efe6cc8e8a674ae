"""Transcripts of agents: what was said in them, found again, and what of it is worth keeping.

They stand in folders of other programs and are only ever read. What we store is where to look, and
texts short enough to search, with every credential cut out first.
"""
