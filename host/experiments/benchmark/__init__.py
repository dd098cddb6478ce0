"""Benchmarks of simulation speed: the project's executor and other ways to simulate the same hardware."""
