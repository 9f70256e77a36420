"""Making room in a conversation that grew too full, cheapest means first."""
