"""Runs of the compiled executor, recorded here, and made again by its code for another processor."""
