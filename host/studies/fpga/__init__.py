"""What the hardware takes on an FPGA, and how fast it runs there: reports made with Yosys and nextpnr."""
