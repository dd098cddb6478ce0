"""The cache of compiled code: its folder, trust in its files, and eviction."""
