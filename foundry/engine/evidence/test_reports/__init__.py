"""What tests ran, by id: hooks that make known runners write it down, and readers of the rest."""
