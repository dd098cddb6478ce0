"""Maximal end components of Markov decision processes."""
