"""Files for tests to read, damaged ones among them."""
