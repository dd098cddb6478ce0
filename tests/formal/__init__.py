"""Formal proofs of the hardware, by SAT-modulo-theory solving of its netlist: `docs/formal-proof.md` reads one proof line by line."""
