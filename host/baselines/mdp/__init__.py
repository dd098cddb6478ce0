"""Markov decision processes: arrays, file formats, and scalable families."""
