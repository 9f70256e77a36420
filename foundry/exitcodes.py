"""What the exit code of a command says. `--help` and README show this table."""

EXIT_CODES = {
    0: "verified",
    1: "failed, or bad input",
    2: "wrong usage of the command line",
    3: "finished but unverified (tests failing, checks missing)",
    4: "paused and resumable (budget, deadline, limit, approval, --pause-after)",
    130: "interrupted and resumable",
}
