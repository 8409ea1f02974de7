"""PyTorch's own samples of its operators, compiled and compared."""
