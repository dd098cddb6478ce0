"""A level dispatched by hand, to test a machine without the host program."""

from typing import NamedTuple

import numpy as np

from cyscc.sim.coprocessor import Instruction, Register
from cyscc.sim.machine import Machine
from cyscc.sim.memory import READ, Memory
from tests.words import graph_word

WORDS = (graph_word(0, 2, True), graph_word(2, 0, False), graph_word(2, 0, False))
"""Graph words of three vertices, the first of which leads to the others."""


class Level(NamedTuple):
    """Addresses of what a level writes."""

    next_queue: int
    reach_queue: int


def dispatch_level(machine: Machine, *, word: int = WORDS[0], capacity: int = 16) -> Level:
    """Dispatch the level that expands the first of the three vertices.

    Parameters
    ----------
    machine : Machine
        Where.
    word : int
        What the current queue holds for the vertex.
    capacity : int
        Entries that the queues take.
    """
    words, neighbours, current, following, reach = (machine.allocate(size) for size in (24, 8, 8, 128, 64))
    machine.write(words, np.array(WORDS, np.uint64))
    machine.write(neighbours, np.array([1, 2], np.uint32))
    machine.write(current, np.array([word], np.uint64))
    machine.set_registers(
        {
            Register.WORDS: words,
            Register.NEIGHBOURS: neighbours,
            Register.CURRENT_QUEUE: current,
            Register.NEXT_QUEUE: following,
            Register.REACH_QUEUE: reach,
            Register.CURRENT_COUNT: 1,
            Register.CAPACITY: capacity,
        }
    )
    machine.dispatch(Instruction.BFS_LEVEL)
    return Level(following, reach)


def deafen(memory: Memory) -> None:
    """Let no port of a memory with the profile `hc2` take reads any more.

    It is as if each had as many in flight as it may have, of which none is answered: nothing is owed, nothing moves.
    """
    memory._sides["own"]["full"][:, READ] = (1 << memory.ports) - 1
