"""Area and clock of kernels and engines on FPGAs, by synthesis, placement and routing."""
