"""Algorithms on the coprocessor, those they are checked against, and software that they are compared with."""

__all__: list[str] = []
