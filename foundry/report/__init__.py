"""What people read: status, summaries, artifacts in the terminal."""
