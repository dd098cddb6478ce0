"""Tests of `host/baselines/mdp`."""
