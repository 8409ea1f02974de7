"""How programs start, fail, are ended, and find the other ranks."""
