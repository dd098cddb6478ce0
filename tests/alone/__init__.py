"""Every component by itself, under random inputs that keep to its contract; what it answers is pinned."""
