"""All algorithms and machines on the same graphs."""
