"""The page of recorded runs: where their cycles went, drawn, in one file."""
