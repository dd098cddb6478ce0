"""Maximal end components of Markov decision processes."""

__all__: list[str] = []
