"""The kinds of step that ship with Foundry: a file each, found by name through step_kind.py.

A file holds its kind whole: what a model hands in, what its prompt is filled with, the gate that
judges it, what an accepted submission becomes, and its Markdown.
"""
