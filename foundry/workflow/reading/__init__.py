"""From text to a JSON value: nothing in it is lost silently, and no text can hang or crash this."""
