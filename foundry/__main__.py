"""`python -m foundry` is `foundry`."""

from foundry.cli.main import main

if __name__ == "__main__":
    main()
