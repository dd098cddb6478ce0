"""Measurements for all studies: requests, their scheduling, the store of results, and the setting."""
