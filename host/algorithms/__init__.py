"""Algorithms on the coprocessor, their verification, and software baselines."""

__all__: list[str] = []
