"""Analyses of records: what bounds a run, for people and for programs."""
