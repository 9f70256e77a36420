"""Just-in-time retrieval: the files and regions that matter for a task, without a model."""
