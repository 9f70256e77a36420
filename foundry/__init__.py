"""Foundry: from a sentence to a tested, committed, documented project while you sleep."""

__version__ = "0.1.0"

DISTRIBUTION = "nightfoundry"
"""The name of the package on an index; the command and the module are called foundry."""
