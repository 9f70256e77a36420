"""What can be wrong with a document, each kind of it on its own."""
