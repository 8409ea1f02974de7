"""Several steps of training, compared with PyTorch, and what `meshplan-run train` writes."""
