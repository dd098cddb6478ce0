"""Software baselines for strongly connected components, on the processor and on graphics processors."""
