"""Studies other than sweeps: tables and figures of papers, comparisons, benchmarks, FPGA reports."""
