"""Doubts a run: re-derives its verdict from a clean clone, and says what it can't tell."""
