"""The memory: every turn's and step's original with a summary, kept whole, found by search."""
