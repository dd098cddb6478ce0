"""Mutants: small faults of the hardware, one at a time, and whether tests and proofs find them."""
