"""Output for people: files, tables, figures, progress, and errors in one line."""
