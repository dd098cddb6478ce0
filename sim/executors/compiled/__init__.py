"""The compiled executor: kernels as lanes, a Verilated shell for each AE, a native loop over cycles."""
