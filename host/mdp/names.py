"""The families of Markov decision processes by name: what help needs, before anything heavier is imported."""

__all__ = ["FAMILY_NAMES"]

FAMILY_NAMES = {
    "philosophers": "dining philosophers who crash and are repaired: one large MEC, or many of all sizes",
    "coin": "shared coin: a random walk of processes; MECs of single states",
    "leader": "leader election by rounds: a MEC for each leader, or one of all states",
    "grid": "gridworld of rooms with one-way doors: a MEC for each room",
    "islands": "islands in a sea: many small MECs in one component",
    "stairs": "one component that takes a round for each of its MECs of one state",
    "random": "random numbers of choices and targets, random targets",
}
"""What the members of each family are."""
