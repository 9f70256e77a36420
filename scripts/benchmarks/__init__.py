"""What Foundry claims in figures, measured."""
