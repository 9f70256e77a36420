"""What a runner's hook writes down: JSON lines in a file of its own, in the order of sessions.

    {"e": "started", "runner": R}            a process was called as this runner
    {"e": "session", "runner": R, "at": P}   it runs tests; ids are relative to the folder P
    {"e": "test", "id": I, "o": O}           an outcome
    {"e": "end", "collected": N, "deselected": N}    the session came to its end

Every line is written on its own, with the functions as they were before a test replaced them:
what a test that ends the process leaves behind is all but the last line.
"""

import os
import time

REPORTS = "FOUNDRY_TEST_REPORTS"
SESSION = "FOUNDRY_TEST_SESSION"
"""Set while a session runs: what its tests start are no sessions of the check."""

_opened = [0]


class Lines:
    """The file of one session."""

    def __init__(self):
        _opened[0] += 1
        name = f"{time.time_ns():020}-{os.getpid()}-{_opened[0]}.jsonl"
        self.path = os.path.join(os.environ[REPORTS], name)
        self.pid = os.getpid()

    def write(self, _open=os.open, _write=os.write, _close=os.close, _getpid=os.getpid, **line):
        """Add a line; not from a fork, and without an error where it can't be written."""
        import json

        try:
            if _getpid() == self.pid:
                file = _open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
                try:
                    _write(file, json.dumps(line).encode("ascii") + b"\n")
                finally:
                    _close(file)
        except Exception:
            pass
