"""Random models, meshes and plans, compared with PyTorch."""
