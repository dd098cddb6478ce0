"""The specification of a run: its options, overrides of single values, and their command-line form."""
