"""What the compiler knows of operators, compared with PyTorch's own lists."""
