"""The models that tests export, and what exports them."""
