"""What answers: the Anthropic SDK or a rehearsal behind a real socket."""
