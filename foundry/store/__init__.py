"""Everything on disk: git, journal, artifacts, ledger, patterns, session log."""
