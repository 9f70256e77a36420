"""Workflow documents and the pure cursor that walks them."""
