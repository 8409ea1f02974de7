"""What a random plan says of a model and its training."""
