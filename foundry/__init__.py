"""Foundry: from a sentence to a tested, committed, documented project while you sleep."""

__version__ = "0.1.0"
