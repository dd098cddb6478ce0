"""The exported Verilog, run by cocotb in a simulator of its own, against the executors."""
