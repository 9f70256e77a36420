"""What people read.

Events become lines: `lines` says what a line is, `narrate` words a run with `run_lines`, `details`
and `tool_lines`, `render` draws it. The others are what one command shows: facts, and their table.
"""
