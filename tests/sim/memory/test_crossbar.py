"""The way to the links, against a crossbar with a queue at each port, cycle by cycle."""

from collections import deque

import numpy as np
import numpy.typing as npt
import pytest

from cyscc.sim.memory import Hc2, Memory
from tests.sim.memory.stepper import Stepper, machine, read
from tests.sim.memory.traffic import Played, play, requests

PORTS = 16
LINK_OF = Hc2().link_of


def crossbar(*, ports: int = PORTS, port_queue: int = 32) -> Memory:
    # Banks that nobody waits for: what is seen is the link's entry 61 cycles before.
    return machine(Hc2(bank_busy=1, port_queue=port_queue), ports=ports, size=1 << 23, capacity=1 << 24)


def load(
    seed: int, share: float, *, count: int, cycles: int, words: int = 64, port_queue: int = 32
) -> tuple[npt.NDArray[np.int64], Played]:
    """Play random reads over all links, each port with banks of its own; return their addresses too.

    The first 2 of the 64 `words` of all links are on those to one controller.
    """
    rng = np.random.default_rng(seed)
    shape = (PORTS, count)
    port = np.arange(PORTS)[:, None]
    addresses = 8192 + 8 * rng.integers(0, words, shape) + 512 * port + 8192 * rng.integers(0, 1 << 9, shape)
    after = np.cumsum(rng.geometric(share, (1, *shape)), axis=2)
    return addresses, play(
        crossbar(port_queue=port_queue),
        requests(ports=PORTS, count=count, address=addresses, after=after),
        cycles=cycles,
    )


def entries(accepted: npt.NDArray[np.int64], links: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return when each request of each port enters its link: the oldest head of a queue that wants a link gets it."""
    ports, count = accepted.shape
    queues: list[deque[int]] = [deque() for _ in range(ports)]
    arrived = [0] * ports
    found = np.full((ports, count), -1)
    for cycle in range(int(accepted.max()) + 100 * ports):
        for port in range(ports):
            while arrived[port] < count and accepted[port, arrived[port]] == cycle:
                queues[port].append(arrived[port])
                arrived[port] += 1
        heads: dict[int, tuple[int, int, int]] = {}
        for port, queue in enumerate(queues):
            if queue:
                taken = int(accepted[port, queue[0]])
                claim = (taken, (port - taken) % ports, port)
                link = int(links[port, queue[0]])
                heads[link] = min(claim, heads.get(link, claim))
        for _, _, port in heads.values():
            found[port, queues[port].popleft()] = cycle
    return found


@pytest.mark.parametrize(("seed", "share"), [(1, 0.3), (2, 0.5), (3, 0.8), (4, 1.0)])
def test_links_serve_the_oldest_head_of_the_ports_queues(seed: int, share: float) -> None:
    addresses, played = load(seed, share, count=300, cycles=6000)
    assert (played.seen >= 0).all()
    links = np.array([[LINK_OF(int(address)) for address in row] for row in addresses])
    assert np.array_equal(played.seen[0] - 61, entries(played.accepted[0], links))


@pytest.mark.parametrize(("seed", "share"), [(1, 0.4), (2, 1.0)])
def test_links_serve_the_oldest_head_however_long_the_queues(seed: int, share: float) -> None:
    addresses, played = load(seed, share, count=150, cycles=3000, words=2, port_queue=200)
    assert (played.seen >= 0).all()
    entered = played.seen[0] - 61
    # Much further ahead than the cycles of a word.
    assert (entered - played.accepted[0]).max() > 180
    links = np.array([[LINK_OF(int(address)) for address in row] for row in addresses])
    assert np.array_equal(entered, entries(played.accepted[0], links))


def test_a_request_uses_the_gap_that_an_older_one_leaves() -> None:
    # Port 0 sends two to link 0 and then, after the first of them, one to link 1, which waits behind the second.
    bench = Stepper(crossbar(ports=2))
    bench.step([read(0, 8192), read(1, 8192 + 512)])
    bench.step([read(0, 8192 + 1024)])
    bench.step([read(0, 8192 + 8)])
    bench.step([read(1, 8192 + 8 + 512)])
    seen = [(cycle, port) for cycle, view in bench.run(100) for port in view.responses]
    assert seen == [(61, 0), (62, 1), (63, 0), (64, 0), (65, 1)]


def test_half_a_load_waits_less_than_two_cycles() -> None:
    # Queues at the inputs of a crossbar without end wait 2 cycles at half a load of random traffic (Karol et al. 1987).
    _, played = load(5, 0.5, count=4000, cycles=9000)
    waits = played.seen - 61 - played.accepted
    assert 1 < waits[:, :, 500:3500].mean() < 2
