"""One run of a compiled program, compared with PyTorch."""
