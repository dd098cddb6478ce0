"""What the machine is compared with: software on processors and graphics processors, and decision processes."""
