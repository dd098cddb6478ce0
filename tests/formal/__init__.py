"""Formal proofs of the hardware, by SAT-modulo-theory solving of its netlist."""
