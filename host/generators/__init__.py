"""Seeded synthetic graphs after GTgraph (Bader and Madduri 2006), the source of the paper's inputs (section 6)."""

from host.generators.random import random_graph
from host.generators.rmat import rmat_graph
from host.generators.ssca2 import ssca2_graph

__all__ = ["random_graph", "rmat_graph", "ssca2_graph"]
