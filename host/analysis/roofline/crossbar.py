"""What a crossbar passes whose ports have first-in first-out queues: the request at a queue's head blocks those behind.

The model is that of M. J. Karol, M. G. Hluchyj and S. P. Morgan, "Input versus output queueing on a space-division
packet switch", IEEE Transactions on Communications 35 (1987), section III: every queue always has a request at its
head; a request's link is drawn independently of all others; of those that are for the same link one, chosen at random,
passes in a cycle. With evenly drawn links many ports reach 2 − √2 = 0.586 of their capacity, 8 ports 0.618, 16 ports
0.60. Nothing here is fitted to a measurement.
"""

import numpy as np
import numpy.typing as npt

from sim.memory.compiling import jit

__all__ = ["crossbar_cycles", "passed_per_cycle"]

_SAMPLE = 1 << 16
"""Requests that are passed at most: the error of a rate is then some tenths of a percent."""
_CHANCES = 1 << 16
"""Most numbers that are drawn for the choice of who passes; then they come again."""


@jit
def _rate(links: npt.NDArray[np.int64], chances: npt.NDArray[np.int64], ports: int, count: int) -> float:
    """Return the requests a cycle, when ports take requests for these links in this order as their heads pass."""
    heads = links[:ports].copy()
    contenders = np.zeros(links.max() + 1, np.int64)
    winners = np.zeros(links.max() + 1, np.int64)
    cycles, passed, place = 0, 0, 0
    while passed < count:
        cycles += 1
        contenders[:] = 0
        for port in range(ports):
            link = heads[port]
            contenders[link] += 1
            # The n-th of them replaces the one chosen before with a chance of 1/n: all have the same in the end.
            if chances[place] % contenders[link] == 0:
                winners[link] = port
            place = (place + 1) % chances.size
        for link in range(contenders.size):
            if contenders[link] > 0:
                heads[winners[link]] = links[ports + passed]
                passed += 1
    return passed / cycles


def passed_per_cycle(ports: int, mix: npt.NDArray[np.float64], *, requests: int = _SAMPLE) -> float:
    """Return the requests a cycle that a saturated first-in first-out crossbar passes.

    Parameters
    ----------
    ports : int
        Ports, each with a queue.
    mix : ndarray of float64, shape (links,)
        Share of the requests that is for each link; a link passes one request a cycle.
    requests : int
        Requests that are to pass; few pass a little faster, since all queues begin with fresh heads.
    """
    count = max(1, min(requests, _SAMPLE))
    random = np.random.default_rng(0)
    # In the last cycle as many may pass as there are ports, and as many stay at the heads.
    links = random.choice(mix.size, size=count + 2 * ports, p=mix / mix.sum())
    chances = random.integers(0, 1 << 32, size=min(_CHANCES, 4 * count) | 1)
    return float(_rate(links, chances, ports, count))


def crossbar_cycles(ports: int, requests: npt.NDArray[np.float64]) -> int:
    """Return the cycles in which the saturated crossbars of several AEs pass their requests: those of the slowest.

    Parameters
    ----------
    ports : int
        Ports of an AE.
    requests : ndarray of float64, shape (AEs, links)
        Requests of each AE to each link.
    """
    cycles = 0.0
    for mix in requests:
        if count := round(float(mix.sum())):
            cycles = max(cycles, count / passed_per_cycle(ports, mix, requests=count))
    return round(cycles)
