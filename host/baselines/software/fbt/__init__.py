"""Forward-backward search with trimming, after Wijs, Katoen and Bošnački (CAV 2014).

The layout of the graph can renumber states, and interleave the transitions of states that have few. The published
scheme and its additions share most steps.
"""
