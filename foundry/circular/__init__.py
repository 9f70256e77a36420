"""Circular prompting: the same prompt in fresh threads until it is really done."""
