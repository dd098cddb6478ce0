"""Synthetic traffic and the queueing model, on traffic of which the cycles are known."""

import numpy as np
import pytest

from cyscc.host.analysis.explain.queueing import DROPPED, NOTHING, PLAIN, WRITTEN, Machine, Stream, modelled
from cyscc.host.analysis.explain.traffic import capped, hubs_of
from cyscc.sim import hardware

PLACES = hardware.EXCHANGE_PLACES

KERNELS = Machine(
    engines=1,
    kernels=4,
    entries=64,
    ids=64,
    words=64,
    visits=64,
    interval=1,
    blocking=False,
    turn=20,
    stages=4,
    launch=10,
    intersects=False,
    paired=False,
    lean=False,
)
EXCHANGING = KERNELS._replace(lanes=1, filtered=1.0)
SWITCHED = KERNELS._replace(ports=4, crosspoints=15)
MEMORY = PLAIN._replace(there=50.0, flush=50)


def stream(fate: int, *, entries: int = 64, degree: int = 32, vertices: int = 1, words: int = 1 << 10) -> Stream:
    """Return traffic of entries of one degree, whose edges all have one fate."""
    edges = entries * degree
    numbers = np.arange(edges)
    return Stream(
        np.full(entries, degree),
        np.arange(entries) * degree,
        np.arange(entries) * degree,
        numbers * 7 % words,
        np.full(edges, fate, np.int8),
        numbers % vertices,
        np.ones(edges, np.int64),
    )


def test_an_exchange_costs_little_and_saves_the_words_that_are_dropped() -> None:
    alone, _ = modelled(KERNELS, MEMORY, stream(NOTHING))
    exchanged, _ = modelled(EXCHANGING, MEMORY, stream(NOTHING))
    dropped, _ = modelled(EXCHANGING, MEMORY, stream(DROPPED))
    assert exchanged == pytest.approx(alone, rel=0.1)
    assert dropped < 0.6 * exchanged


def test_ids_of_one_owner_are_taken_one_a_cycle_and_plane() -> None:
    """All kernels read ids of one owner and plane, which are dropped: the owner's filter is the limit."""
    traffic = stream(DROPPED)
    edges = traffic.fates.size
    spread, _ = modelled(EXCHANGING, MEMORY, traffic)
    one, _ = modelled(EXCHANGING, MEMORY, traffic._replace(words=np.zeros(edges, np.int64)))
    assert spread < edges < one < edges + 300


def test_a_filter_lets_each_engine_visit_a_vertex_once() -> None:
    traffic = stream(WRITTEN, vertices=16)
    _, several = modelled(KERNELS, MEMORY, traffic)
    _, once = modelled(EXCHANGING, MEMORY, traffic)
    _, twice = modelled(EXCHANGING._replace(engines=2), MEMORY, traffic)
    _, unfiltered = modelled(EXCHANGING._replace(filtered=0.0), MEMORY, traffic)
    assert once == 16 < twice <= 32 < several
    assert unfiltered > 16


def test_pieces_of_a_vertex_take_slots_but_no_marks() -> None:
    traffic = stream(WRITTEN, entries=4, degree=16, vertices=64)
    whole, visits = modelled(KERNELS, MEMORY, traffic)
    pieces, again = modelled(KERNELS, MEMORY, traffic._replace(pieces=np.full(traffic.fates.size, 5)))
    assert visits == again == 64
    # A kernel makes 16 visits, each with two writes more for each of four pieces.
    assert whole + 16 * 4 * 2 - 40 <= pieces <= whole + 16 * 4 * 2 + 5 * KERNELS.turn


def test_a_switch_takes_some_cycles_more_and_no_request_waits_for_another_link() -> None:
    traffic = stream(NOTHING, entries=4, degree=1)
    ways = MEMORY._replace(port_of=np.arange(8) % 4)
    alone, _ = modelled(KERNELS, ways, traffic)
    switched, _ = modelled(SWITCHED, ways, traffic)
    # Entry, id and word are read one after the other.
    assert switched - alone == 3 * hardware.SWITCH_CYCLES
    # All requests for one memory port: it takes one a cycle, and without a switch each kernel has its own.
    traffic = stream(NOTHING)
    requests = 64 + 2 * traffic.fates.size
    one, _ = modelled(SWITCHED, MEMORY, traffic)
    spread, _ = modelled(SWITCHED, ways, traffic)
    assert one >= requests > 2 * spread


@pytest.mark.parametrize("seed", range(60))
def test_any_traffic_ends_on_any_machine(seed: int) -> None:
    random = np.random.default_rng(seed)

    def one_of(*values: int) -> int:
        return int(random.choice(values))

    paired, lanes, ports = one_of(0, 1), one_of(0, 1), one_of(0, 1, 4)
    machine = KERNELS._replace(
        engines=one_of(1, 2, 4),
        entries=one_of(4, 64),
        ids=one_of(4, 64) << paired,
        words=one_of(4, 64),
        visits=one_of(4, 64),
        paired=bool(paired),
        lean=bool(one_of(0, 1)),
        together=bool(one_of(0, 1)),
        ports=ports,
        crosspoints=one_of(7, 15) if ports else 0,
        lanes=lanes << paired,
        filtered=one_of(0, 1) * lanes,
    )
    memory = MEMORY._replace(reads=one_of(2, 512), writes=one_of(2, 512), port_of=np.arange(8) % max(ports, 1))
    traffic = stream(NOTHING, entries=one_of(1, 5, 200), degree=one_of(1, 30), vertices=one_of(1, 50))
    edges = traffic.fates.size
    fates = random.choice([NOTHING, WRITTEN, DROPPED], edges).astype(np.int8)
    pieces = random.integers(1, one_of(2, 12), edges)
    cycles, pushed = modelled(machine, memory, traffic._replace(fates=fates, pieces=pieces))
    assert 0 < cycles < 1_000_000
    assert min(1, (fates == WRITTEN).sum()) <= pushed <= (fates == WRITTEN).sum()


def test_chunks_keep_the_edges_of_each_kernel() -> None:
    random = np.random.default_rng(1)
    degrees = random.integers(0, 100, 64)
    degrees[5] = 500
    found = capped(degrees, 128, 4)
    assert found.max() <= 128
    assert [found[k::4].sum() for k in range(4)] == [degrees[k::4].sum() for k in range(4)]
    assert (capped(degrees, 512, 4) == degrees).all()


@pytest.mark.parametrize(("edges", "hub"), [([80, 85, 75, 1080], 1000), ([80, 85, 75, 95], 0), ([80, 80, 80, 80], 0)])
def test_a_kernel_with_many_more_edges_than_others_has_a_hub(edges: list[int], hub: int) -> None:
    found = hubs_of(np.full(4, 10), np.array(edges))
    assert found[:3].tolist() == [0, 0, 0]
    assert found[3] == pytest.approx(hub, abs=10)
