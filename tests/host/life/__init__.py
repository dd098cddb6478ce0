"""Tests of lives for people."""
