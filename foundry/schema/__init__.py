"""Values that every room shares: frozen, validated, without behaviour that does I/O."""
