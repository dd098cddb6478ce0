"""Controller, bank and link of an address; links against a crossbar, by cycle; saturation against closed forms."""

from collections import deque

import numpy as np
import numpy.typing as npt
import pytest

from cyscc.sim.memory import READ, WRITE, Hbm2, Hc2, Memory
from cyscc.sim.memory.library import functions_of
from tests.sim.memory.stepper import Stepper, machine, read
from tests.sim.memory.traffic import Played, play, requests

HC2 = Hc2()
BANKS, LINKS = 1024, 16
bank_of, controller_of, link_of = HC2.bank_of, HC2.channel_of, HC2.link_of


def test_mapping_is_the_documented_one() -> None:
    address = 0b1_1010_101_110_000  # bits 12..9 = 13 (with bit 12 set), 8..6, 5..3
    high, controller, low = (address >> 9) & 15, (address >> 6) & 7, (address >> 3) & 7
    assert controller_of(address) == controller
    assert bank_of(address) == controller * 128 + high * 8 + low
    assert link_of(address) == controller * 2 + (low & 1)


def test_each_bank_has_one_word_of_every_8_kib() -> None:
    for start in (0, 8192, 1 << 40):
        assert sorted(bank_of(start + 8 * word) for word in range(BANKS)) == list(range(BANKS))


def test_neighbouring_words_of_4_bytes_share_a_bank() -> None:
    assert all(bank_of(8 * word) == bank_of(8 * word + 4) for word in range(BANKS))
    assert all(link_of(8 * word) == link_of(8 * word + 4) for word in range(BANKS))


def test_each_link_serves_an_equal_share_of_the_banks() -> None:
    banks = [set[int]() for _ in range(LINKS)]
    for word in range(BANKS):
        banks[link_of(8 * word)].add(bank_of(8 * word))
    assert [len(share) for share in banks] == [BANKS // LINKS] * LINKS
    assert len(set().union(*banks)) == BANKS


@pytest.mark.parametrize(
    "profile",
    [
        HC2,
        Hc2(controllers=1, banks=1, links=1, controller_bit=3, link_bit=3),
        Hc2(controllers=4, banks=16, links=4, controller_bit=7, link_bit=5),
        Hc2(controllers=64, banks=2, controller_bit=3, link_bit=9),
        Hc2(controllers=2, banks=8, controller_bit=6, link_bit=4),
    ],
)
def test_banks_and_links_of_any_parameters_share_alike(profile: Hc2) -> None:
    shared = profile.contention
    assert (shared.links, shared.banks) == (profile.controllers * profile.links, profile.controllers * profile.banks)
    for number, of in ((shared.links, shared.link_by_word), (shared.banks, shared.bank_by_word)):
        assert np.bincount(of, minlength=number).tolist() == [of.size // number] * number
    # A bank has the controller that its address has, and its links lead there.
    words = 8 * np.arange(shared.bank_by_word.size)
    controllers = words >> profile.controller_bit & profile.controllers - 1
    assert np.array_equal(shared.bank_by_word // profile.banks, controllers)
    assert np.array_equal(shared.link_by_word // profile.links, controllers)


@pytest.mark.parametrize(
    "profile",
    [
        HC2,
        Hc2(controllers=4, banks=16, links=4, controller_bit=7, link_bit=5),
        Hbm2(),
        Hbm2(channels=8, links=2, channel_bit=10, low_groups=0, low_columns=3),
    ],
    ids=str,
)
def test_compiled_rules_have_the_same_map(profile: Hc2 | Hbm2) -> None:
    memory = Memory(profile, engines=1, ports=1)
    functions = functions_of(type(profile), engines=1, ports=1)  # type: ignore[arg-type]
    places = profile.contention.bank_by_place
    for address in np.random.default_rng(3).integers(0, 1 << 36, 200).tolist():
        assert functions["link_of"](memory.model.context, address) == profile.link_of(address)
        place = functions["place_of"](memory.model.context, address, (1 << 30) - 1)
        if places is None:
            word = place % profile.contention.bank_by_word.size
            assert profile.contention.bank_by_word[word] == profile.bank_of(address)
        else:
            assert places[place] == profile.bank_of(address)


PORTS = 16


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
    links = np.array([[link_of(int(address)) for address in row] for row in addresses])
    assert np.array_equal(played.seen[0] - 61, entries(played.accepted[0], links))


@pytest.mark.parametrize(("seed", "share"), [(1, 0.4), (2, 1.0)])
def test_links_serve_the_oldest_head_however_long_the_queues(seed: int, share: float) -> None:
    addresses, played = load(seed, share, count=150, cycles=3000, words=2, port_queue=200)
    assert (played.seen >= 0).all()
    entered = played.seen[0] - 61
    # Much further ahead than the cycles of a word.
    assert (entered - played.accepted[0]).max() > 180
    links = np.array([[link_of(int(address)) for address in row] for row in addresses])
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


BANK_BUSY = 15


def large(profile: str | Hc2 = "hc2", *, engines: int = 4, ports: int = 16) -> Memory:
    return machine(profile, engines=engines, ports=ports, size=(1 << 24) - 4096, capacity=1 << 24)


def rate(played: Played, *, first: int, last: int) -> float:
    """Return the responses a cycle in a window."""
    return np.count_nonzero((played.seen >= first) & (played.seen < last)) / (last - first)


@pytest.mark.parametrize(("engines", "ports"), [(1, 1), (1, 16), (4, 16)])
def test_one_bank_serves_an_access_every_15_cycles(engines: int, ports: int) -> None:
    plan = requests(engines=engines, ports=ports, count=2000, address=8192)
    played = play(large(engines=engines, ports=ports), plan, cycles=20_000)
    assert rate(played, first=2000, last=20_000) == pytest.approx(1 / BANK_BUSY, rel=0.02)


@pytest.mark.parametrize("ports", [2, 16])
def test_one_link_carries_a_request_a_cycle(ports: int) -> None:
    memory = large(engines=1, ports=ports)
    count = 20_000
    # All 64 banks behind controller 0, even side; each port starts elsewhere.
    index = np.arange(count) + 5 * np.arange(ports)[:, None]
    plan = requests(ports=ports, count=count, address=8192 + (index // 4 % 16) * 512 + (index % 4) * 16)
    played = play(memory, plan, cycles=10_000)
    assert rate(played, first=2000, last=10_000) == pytest.approx(1, rel=0.02)
    statistics = memory.statistics()
    assert statistics["controllers"][1:] == [0] * 7
    assert np.count_nonzero(statistics["banks"]) == 64


def test_a_port_takes_a_request_a_cycle() -> None:
    plan = requests(count=20_000, address=8192 + 8 * np.arange(20_000))
    played = play(large(engines=1, ports=1), plan, cycles=10_000)
    assert rate(played, first=1000, last=10_000) == pytest.approx(1, rel=0.02)
    assert np.all(played.seen[played.seen >= 0] - played.accepted[played.seen >= 0] == 75)


@pytest.mark.parametrize(("bank_busy", "bound"), [(15, 64.0), (20, 1024 / 20), (32, 1024 / 32)])
def test_machine_reaches_the_lesser_of_ports_and_banks(bank_busy: int, bound: float) -> None:
    count = 4000
    # Each port walks over all banks, and no two ports of an engine are on the same link.
    word = np.arange(count) + 64 * np.arange(4)[:, None, None] * 4 + np.arange(16)[:, None]
    link = word % 16
    row = (word // 16) % 64
    address = 8192 + (link >> 1) * 64 + (link & 1) * 8 + (row & 3) * 16 + (row >> 2) * 512
    plan = requests(engines=4, ports=16, count=count, address=address)
    played = play(large(Hc2(bank_busy=bank_busy)), plan, cycles=4000)
    assert rate(played, first=1500, last=3900) == pytest.approx(bound, rel=0.02)


def test_random_addresses_stay_below_the_bound_and_above_half_of_it() -> None:
    memory = large()
    address = 8192 + 8 * np.random.default_rng(1).integers(0, 1 << 20, (4, 16, 4000))
    plan = requests(engines=4, ports=16, count=4000, address=address)
    played = play(memory, plan, cycles=4000)
    # A full queue at the input of a crossbar of random traffic passes about 0.6 a port and cycle.
    assert 32 < rate(played, first=500, last=3900) < 45
    assert memory.error() is None


@pytest.mark.parametrize("kind", [READ, WRITE])
def test_backlog_of_one_bank_stays_within_its_bounds(kind: int) -> None:
    memory = large()
    plan = requests(engines=4, ports=16, count=1000, address=8192, kind=kind)
    play(memory, plan, cycles=40_000)
    assert memory.error() is None
    accesses = sum(memory.statistics()["banks"])
    assert accesses <= 64 * 512 + 40_000 / BANK_BUSY
