"""What PyTorch computes from an exported model, in its own precision and in float64, and what errors that allows."""
