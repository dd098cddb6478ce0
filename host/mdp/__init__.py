"""Markov decision processes: their arrays, files, and families of them."""
