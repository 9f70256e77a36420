"""How a command is run."""
