"""Records: what happened in a run over time, in files that any data frame reads."""
