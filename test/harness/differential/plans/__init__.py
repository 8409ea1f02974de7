"""What a random plan states about a model and its training."""
