"""Formal proofs of the hardware, by SAT-modulo-theory solving of its netlist.

`docs/formal-proof.md` reads one of them line by line.
"""
