"""What a conversation is told of a project: templates, retrieval, overview."""
