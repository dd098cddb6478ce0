"""Many runs, whose results are stored and found again: sweeps, the figures of papers, benchmarks, FPGA reports."""
