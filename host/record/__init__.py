"""Records: a run's activity over time, in files that every data-frame library reads."""
