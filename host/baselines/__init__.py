"""Baselines of the machine: software on processors and graphics processors, and Markov decision processes."""
