"""What a person allows a model to do: rules, their reading, and a wrapper around each tool."""
