"""The roofline of a search: limits of ports, links, banks, ring and latency, and the throughput reached."""
