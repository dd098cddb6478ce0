"""Tests under sanitizers; see `make sanitize`."""
