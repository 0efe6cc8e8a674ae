"""The shared vectors of the format, and a runner for any folder of them.

``python -m tests.conformance DIR`` runs every ``*.jsonl`` in *DIR* and prints what differs.
"""
