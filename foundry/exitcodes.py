"""What the exit code of a command says. `--help` and README show this table."""

VERIFIED = 0
FAILED = 1
USAGE = 2
UNVERIFIED = 3
PAUSED = 4
INTERRUPTED = 130

EXIT_CODES = {
    VERIFIED: "verified",
    FAILED: "failed, or bad input",
    USAGE: "wrong usage of the command line",
    UNVERIFIED: "finished but unverified (tests failing, checks missing)",
    PAUSED: "paused and resumable (budget, deadline, limit, approval, --pause-after)",
    INTERRUPTED: "interrupted and resumable",
}
