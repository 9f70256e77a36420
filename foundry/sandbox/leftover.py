"""Processes of our own that outlived a killed harness, found by a mark in their environment."""

import os
from typing import TYPE_CHECKING

from foundry.sandbox.process_tree import GRACE_SECONDS, end_processes, marked, with_descendants

if TYPE_CHECKING:
    from psutil import Process

PROGRAM = "git"
"""Only what bears this name is ours: a server that a remote's hook starts has the mark too."""

CLOCK_SLACK = 2.0


def end_leftover(variable: str, place: str) -> int:
    """End what was started with `variable` set to `<pid>:<place>` by a process that is gone now.

    Our own are left over as well: whoever calls this waits for none. Returns how many those were.
    """

    def look() -> list["Process"]:
        found = marked(variable, lambda value: value.partition(":")[2] == place)
        left = {each.pid for each in found if _is_left(each, variable)}
        return with_descendants(left) if left else []

    return end_processes(look, grace=GRACE_SECONDS)


def _is_left(process: "Process", variable: str) -> bool:
    """Whether nobody waits for a process: who started it has ended, or is us."""
    import psutil

    try:
        if not process.name().startswith(PROGRAM):
            return False
        starter = process.environ().get(variable, "").partition(":")[0]
        if starter == str(os.getpid()):
            return True
        waits = psutil.Process(int(starter))
        dead = waits.status() == psutil.STATUS_ZOMBIE
        return dead or waits.create_time() > process.create_time() + CLOCK_SLACK
    except psutil.NoSuchProcess as error:
        return error.pid != process.pid  # its starter is gone; or it is itself
    except (psutil.Error, OSError, ValueError):
        return False
