"""The report on recorded runs: charts of where their cycles went, on one page in one file."""
