"""Unit tests of the hardware's components, in Amaranth's simulator."""
