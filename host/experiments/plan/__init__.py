"""Plans: many requests, whose results are found in a store or made by a pool of processes, here or on a cluster."""
