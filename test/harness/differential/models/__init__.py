"""The blocks of random models."""
