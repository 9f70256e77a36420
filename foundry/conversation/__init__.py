"""One fresh thread: loop, budget, prompts."""
