"""Transcripts of agents: what was said in them, found again, and what of it is worth keeping.

They stand in folders of other programs and are only ever read. What we store is where to look, and
texts short enough to search, with every credential cut out first.

`scan` brings what is known up to date, `search` finds sessions by it, and `consolidate` turns
sessions into proposed memories, with `contract` for a model that does the same. `layouts` has one
module for each agent; everything else speaks the words of `record`.
"""
