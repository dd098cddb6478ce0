"""Runs: the steps of a search, or of finding components, that the command line and Python share."""
