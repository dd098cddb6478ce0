"""Profile `hc2`: the crossbar and the banks of the Convey HC-2, after the vendor's public simulation model."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cyscc.sim.memory.crossbar import Calendar, make_calendars
from cyscc.sim.memory.profiles.ports import QueuedPorts
from cyscc.sim.memory.profiles.profile import Contention, State, parameter
from cyscc.sim.memory.structures import Constant, Record, Rows

_CYCLES = 1_000_000
_PLACES = 65_536


class Bank(Record):
    """A bank: the cycle from which it is free, and its accesses so far."""

    free: int
    accesses: int


class Shared(Record):
    """Banks by the address bits above the lowest three, and the return links, neighbours if of one controller.

    `waited` counts the cycles that accesses have waited for their bank.
    """

    last_bank: Constant
    waited: int
    banks: Rows[Bank]
    links: Calendar


@dataclass(frozen=True, kw_only=True)
class Hc2(QueuedPorts):
    """Memory controllers with banks, reached from every port of an AE through the AE's crossbar links.

    Above the byte in a word, the lowest address bits select the bank within its controller; the bits of the controller
    lie among them.

    Parameters
    ----------
    controllers, banks, links : int
        Memory controllers; banks of each; links of an AE to each. Powers of two.
    controller_bit, link_bit : int
        Lowest address bit of the controller, and of the link to it. Separate links for even and odd words are an
        assumption.
    request_travel : int
        From a crossbar link to the bank. Half of the 400 ns (60 cycles) there and back of the vendor's public
        simulation model; that the two ways are equal is an assumption.
    bank_busy : int
        A bank's time for one access, 100 ns in the vendor's public simulation model.
    response_travel : int
        From the bank's return link to the port. The other half of the 60 cycles.
    flush_travel : int
        Least time from a flush request to its completion. An assumption: the round trip.
    port_queue : int
        A port is ready while its latest request enters its link less than this many cycles from now, so about this
        many requests can wait at a port. An assumption.
    reads_in_flight : int
        Most unanswered reads of a port. An assumption.
    writes_in_flight : int
        Most incomplete writes of a port. An assumption; it bounds the backlog of a bank that many ports write to.
    """

    name: ClassVar[str] = "hc2"
    Shared: ClassVar[type[Record]] = Shared
    of_channels: ClassVar[tuple[str, str]] = ("controller_bit", "controllers")

    request_travel: int = parameter(30, low=0, high=_CYCLES)
    bank_busy: int = parameter(15, low=1, high=10_000)
    response_travel: int = parameter(30, low=0, high=_CYCLES)
    flush_travel: int = parameter(60, low=1, high=_CYCLES)
    port_queue: int = parameter(32, low=1, high=_PLACES)
    reads_in_flight: int = parameter(512, low=1, high=_PLACES)
    writes_in_flight: int = parameter(512, low=1, high=_PLACES)
    controllers: int = parameter(8, low=1, high=64)
    banks: int = parameter(128, low=1, high=1024)
    links: int = parameter(2, low=1, high=8)
    controller_bit: int = parameter(6, low=3, high=13)
    link_bit: int = parameter(3, low=3, high=13)

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        super().__post_init__()
        self.check_powers("controllers", "banks", "links")
        # The bits of bank and controller are contiguous, and include those of the link.
        most = {"controller_bit": 2 + self.banks.bit_length()}
        most["link_bit"] = 3 + (self.controllers * self.banks).bit_length() - self.links.bit_length()
        for name, high in most.items():
            if (value := getattr(self, name)) > high:
                raise ValueError(f"memory {name} must be at most {high} with so many banks, not {value!r}")

    @property
    def unloaded_latency(self) -> int:
        """Request travel, bank access, and response travel of a lone read."""
        return self.request_travel + self.bank_busy + self.response_travel

    @property
    def write_latency(self) -> int:
        """A lone write takes as long as a read."""
        return self.unloaded_latency

    def link_of(self, address: int) -> int:
        """Return the link that an AE uses for a byte address; each controller's are neighbours."""
        return self.channel_of(address) * self.links + ((address >> self.link_bit) & (self.links - 1))

    def bank_of(self, address: int) -> int:
        """Return the bank of a byte address, counted over all controllers; controller 0 has the first."""
        below = (address & ((1 << self.controller_bit) - 1)) >> 3
        above = address >> self.controller_bit + (self.controllers - 1).bit_length() << self.controller_bit - 3
        return self.channel_of(address) * self.banks + ((above | below) & (self.banks - 1))

    @property
    def divisions(self) -> int:
        """Controllers share nothing."""
        return self.controllers

    @property
    def contention(self) -> Contention:
        """Links and banks; the map repeats after one word for every bank."""
        words: Any = np.arange(0, 8 * self.controllers * self.banks, 8)
        return Contention(
            links=self.controllers * self.links,
            banks=self.controllers * self.banks,
            controllers=self.controllers,
            bank_busy=self.bank_busy,
            link_by_word=np.asarray(self.link_of(words)),
            bank_by_word=np.asarray(self.bank_of(words)),
        )

    def build(self, state: State, *, ports: int) -> None:
        """Allocate banks, calendars of links, and queues of writes, large enough that none can overflow."""
        arena, own, shared = state.arena, state.own, state.shared
        links = self.controllers * self.links
        ahead, in_flight = self.build_ports(state, ports=ports, links=links)
        shared["last_bank"] = self.controllers * self.banks - 1
        arena.link_all(shared, "banks", Bank, self.controllers * self.banks)
        # Worst case: all requests in flight wait for the same bank.
        ahead += self.request_travel + in_flight * (self.bank_busy + 1)
        make_calendars(arena, shared["links"], links=own.size * links, horizon=ahead, common=True)

    def statistics(self, state: State, *, cycles: int, entering: int, serving: int) -> dict[str, Any]:
        """Return accesses by controller and bank, bank times, and waiting cycles of requests."""
        banks = self.controllers * self.banks
        accesses = np.zeros(banks, np.int64)
        accesses[self.contention.bank_by_word] = _banks(state)["accesses"]
        waited = int(state.shared["waited"].sum())
        busy = int(accesses.sum()) * self.bank_busy
        return {
            "controllers": accesses.reshape(self.controllers, self.banks).sum(axis=1).tolist(),
            "banks": accesses.tolist(),
            "bank_busy_cycles": busy,
            "bank_utilisation": busy / (cycles * banks) if cycles else 0.0,
            "waiting_cycles": {
                "link": entering,
                "bank": waited,
                "return_link": serving - waited - int(accesses.sum()) * self.unloaded_latency,
            },
        }

    def reset_statistics(self, state: State) -> None:
        """Reset the counters."""
        _banks(state)["accesses"] = state.shared["waited"] = 0


def _banks(state: State) -> NDArray[np.void]:
    return state.arena.at(state.shared["banks"][0])[: int(state.shared["last_bank"][0]) + 1]
