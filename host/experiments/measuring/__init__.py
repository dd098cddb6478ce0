"""Requests of runs and of software, for all studies, and the setting in which they are measured."""
