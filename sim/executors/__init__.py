"""Executors, which execute the hardware cycle by cycle on the common memory model."""

# Empty, so that the command line can import names without slow imports.
