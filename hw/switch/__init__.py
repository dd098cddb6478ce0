"""Switch between kernels and memory ports: each port carries only the requests of one link."""
