"""CONTEXT.md: what a project is, from its code alone, in few enough tokens to begin with."""
