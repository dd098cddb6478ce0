"""Seeded synthetic graphs after GTgraph (Bader and Madduri 2006), the source of the paper's inputs (section 6)."""

from host.graph.generators.gnm import gnm_graph
from host.graph.generators.random import random_graph
from host.graph.generators.rmat import rmat_graph
from host.graph.generators.ssca2 import ssca2_graph

__all__ = ["gnm_graph", "random_graph", "rmat_graph", "ssca2_graph"]
