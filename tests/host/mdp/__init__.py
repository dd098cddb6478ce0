"""Tests of `host/mdp`."""
