"""Answers: what commands and functions return, and how it is shown."""
