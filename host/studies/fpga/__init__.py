"""Area and clock of kernels and engines on FPGAs: synthesised, placed and routed."""

__all__: list[str] = []
