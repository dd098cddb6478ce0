"""Tests of the adapters to the HC-2."""
