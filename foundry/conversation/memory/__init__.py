"""What a conversation gives to the memory, and what of the memory goes into a prompt. Pure."""
