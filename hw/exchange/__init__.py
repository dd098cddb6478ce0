"""Exchange: neighbour ids on their way to the kernels that know which vertices were met."""
