"""Thinking before acting: short rounds in which a model may recall what was done before."""
