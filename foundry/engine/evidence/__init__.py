"""What a verdict leans on: tests by id, hollowed code, old tests, and what each requirement has."""
