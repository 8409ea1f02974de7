"""Drafts of plans for many models, and what becomes of them."""
