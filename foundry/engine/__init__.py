"""Advance a run: runner, gates, accept, resume."""
