"""The operators that a block of a random model calls."""
