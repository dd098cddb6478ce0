"""The entries of the three arrays: 29 bits of a position or a state, and three bits of bookkeeping above them.

=========  =====================================  =======================================  ====================
bit        `offsets`                              `results`                                `trans`
=========  =====================================  =======================================  ====================
31         the state has its component, or is     the same                                 locked: it holds a
           none of the subgraph                                                            pivot
30         in the frontier of the forward search  of the backward one; between searches:   part of the target
                                                  reached by the forward one
29         explored by it; between searches: the  by the backward one; between searches:   part of the target
           state has no region yet                reached by it
28 to 0    where its transitions begin            its region: the number of a pivot        the target
=========  =====================================  =======================================  ====================
"""

__all__ = ["EXPLORED", "FRONTIER", "LOCK", "MASK", "MOST", "PENDING", "REACHED", "REMOVED", "SHIFT"]

LOCK = -(2**31)
"""The highest bit, of an integer with a sign."""
FRONTIER = 2**30
EXPLORED = 2**29
REACHED = FRONTIER | EXPLORED
SHIFT = 29
"""Shifted so far, the two bits of `results` are 1 for the backward search and 2 for the forward one."""
PENDING = EXPLORED
"""Between searches, of `offsets`."""
MASK = 2**29 - 1
MOST = 2**29 - 1
"""States, and places of `trans`: positions and states are below it."""
REMOVED = -1
"""In `results`: the state is none of the subgraph."""
