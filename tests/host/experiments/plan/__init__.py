"""Tests of plans: requests, the store of their results, and the pools that make them."""
