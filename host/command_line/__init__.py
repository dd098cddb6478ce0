"""The commands of the command line, one module each with its options and its `run` function."""
