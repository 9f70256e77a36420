"""A scripted model behind a real loopback server that speaks the Messages API."""
