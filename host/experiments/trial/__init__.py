"""Trials: a recorded run made again with changed settings, to measure what each change brings."""
