"""The compiled executor: kernels as lanes, a shell for each AE, a native loop over cycles."""
