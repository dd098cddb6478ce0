"""DRAM with banks, rows and refresh, common to `hbm2` and `ddr4`, which have the times of devices."""

import tomllib
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cyscc.sim.memory.crossbar import Calendar, make_calendars
from cyscc.sim.memory.profiles.ports import QueuedPorts
from cyscc.sim.memory.profiles.profile import Contention, RowTimes, State, parameter
from cyscc.sim.memory.records import Ring
from cyscc.sim.memory.structures import Constant, Record, Rows, Words

_CYCLES = 1_000_000
_TICKS = 100_000
_PLACES = 65_536
_CLOSED = -1
_LATEST = 1 << 50
"""A later time than any; the rules' quotients are exact up to it."""
_EARLIER = 4
"""Rows of a bank that will be closed and that reads may join yet: fewer lose hits, more gain none."""
_NEAR = 64
"""Clocks that activates are kept for: those shortly before count for `t_faw`."""
_DEVICES: dict[str, dict[str, int]] = tomllib.loads(Path(__file__).with_name("devices.toml").read_text("utf-8"))
"""Parameters of devices by the names of their profiles."""


class Bank(Record):
    """A bank, in memory clocks: its open row, and the earliest times of its next commands.

    `row` is the open row, below 0 if none; `activated` the time of its activate; `used` that of the last column
    command; `readable` the earliest time of a read; `closable` that of a precharge; `refresh` is when the next refresh
    is due. Of the last rows before it, `earlier` in number, the arrays have the row, its activate and its precharge.
    """

    row: int
    activated: int
    used: int
    readable: int
    closable: int
    refresh: int
    hits: int
    openings: int
    earlier: int
    earlier_rows: Annotated[Words, _EARLIER]
    earlier_opened: Annotated[Words, _EARLIER]
    earlier_closed: Annotated[Words, _EARLIER]


class Window(Record):
    """A controller's reads, or its writes: `held` in number, by the clocks after their column commands.

    A clock has a number for each pseudo-channel, and `near` a bit for each number from block `first` on, before `end`.
    Those from there on are in `far`, ascending.
    """

    held: int
    first: int
    end: int
    places: Ring
    far: Words
    near: Annotated[Words, 64]


class Channel(Record):
    """A pseudo-channel: when its last read and write were admitted to the window, and its writes in number."""

    admitted: Annotated[Words, 2]
    writes: int


class Shared(Record):
    """Banks by pseudo-channel, and what they share, by pseudo-channel or controller.

    The calendar `clocks` has the row commands of each controller and the activates of each pseudo-channel, by clocks of
    the memory; `columns` has the data bus of each pseudo-channel and its bank groups, by units of `unit` clocks, in
    windows of a `burst` and of a `group`, for a column command to a bank group. `of_` begins the name of a divisor:
    2**64 - 1 divided by it. `clock` is the current one. `windows` has one for the reads and one for the writes of each
    controller. `waited` counts the cycles of accesses beyond those of an open row, `returned` the cycles waiting for a
    return link, `refreshing` the memory clocks that `refreshes` accesses waited for a refresh.
    """

    least_read: Constant
    least_write: Constant
    of_machine: Constant
    of_memory: Constant
    of_burst: Constant
    of_group: Constant
    of_unit: Constant
    burst: Constant
    group: Constant
    unit: Constant
    clock: int
    waited: int
    returned: int
    conflicts: int
    refreshes: int
    refreshing: int
    banks: Rows[Bank]
    windows: Rows[Window]
    of_channels: Rows[Channel]
    links: Calendar
    clocks: Calendar
    columns: Calendar


def _bits(count: int) -> int:
    """Return the base-2 logarithm of a power of two."""
    return count.bit_length() - 1


@dataclass(frozen=True, kw_only=True)
class Dram(QueuedPorts):
    """Pseudo-channels of DRAM with an open-page policy; each AE has its own crossbar to all of them.

    Each request occupies a whole burst; requests are not merged. A controller has a window of so many `entries` for
    reads, and as many for writes, which its pseudo-channels share; a request waits in front of it, in order, until
    one in it has its column command. In the window a request takes the first time that is free, in the order of
    arrival: so a later one passes an earlier one that waits for its bank. A read whose row is open, or will be, is
    served before the row is closed, if there is time: hits come first. A row that is to be closed is not kept open
    for later hits.

    What is shared is booked: the data bus of a pseudo-channel by bursts, a bank group by `t_ccd_l`, activates of a
    pseudo-channel by `t_rrd` and any five by `t_faw`, and the row commands of a controller, of all its pseudo-channels,
    by clocks. The data bus turns to writes and back once for each `write_batch` of them.

    Address bits from the lowest on: those of the byte in its burst, `low_groups` of the bank group, `low_columns` of
    the column, the bank, the rest of the group, the rest of the column, and the row; the bits of the pseudo-channel lie
    among them. Times are in memory clocks, except for travel and queues; a clock domain crossing ends at the next edge.

    Parameters
    ----------
    machine_mhz, memory_mhz : int
        Clocks of the machine and the memory.
    channels, pseudo_channels, groups, banks, columns : int
        Pseudo-channels, and those of a controller, 1 where it has a channel of its own; bank groups of each; banks of a
        group; bursts of a row. Powers of two.
    links : int
        Links of an AE to each pseudo-channel, selected by the bank; a power of two. An assumption: a crossbar in the
        FPGA's fabric.
    channel_bit, low_groups, low_columns : int
        Lowest address bit of the pseudo-channel; bits of the bank group and of the column that lie lowest.
    burst_bytes : int
        Bytes of a burst, which is always transferred as a whole; a power of two.
    request_travel, response_travel, flush_travel : int
        From a link to the pseudo-channel's port, and back; least time of a flush. Assumptions.
    way_there, way_back : int
        From the port to the window, and from the data back.
    burst, t_ccd_l : int
        Clocks of a burst; column to column of a bank group.
    t_rcd, t_rp, t_ras, t_rtp : int
        Activate to column; precharge to activate; activate to precharge; read to precharge.
    t_wr, t_wtr, t_rtw : int
        End of a write to precharge, and to a read; read to write of a pseudo-channel.
    t_cl, t_cwl : int
        Read and write latency.
    t_rrd, t_faw : int
        Activate to activate of a pseudo-channel; least time of five, at most 32 clocks each.
    activate_clocks, precharge_clocks : int
        Clocks of the controller's row commands.
    t_refi, t_rfc, refresh_stagger : int
        From refresh to refresh of all banks of a pseudo-channel, after a `t_rp` to close the rows, and its length; from
        that of a pseudo-channel to the next one's: an assumption.
    entries : int
        Reads, and writes, in a controller's window.
    write_batch : int
        Writes of a pseudo-channel that are performed together.
    port_queue, reads_in_flight, writes_in_flight : int
        As of `hc2`. Assumptions.
    """

    clock: ClassVar[str] = "machine_mhz"
    Shared: ClassVar[type[Record]] = Shared

    machine_mhz: int = parameter(150, low=1, high=10_000)
    memory_mhz: int = parameter(None, low=1, high=10_000)
    request_travel: int = parameter(4, low=0, high=_CYCLES)
    response_travel: int = parameter(4, low=0, high=_CYCLES)
    flush_travel: int = parameter(24, low=1, high=_CYCLES)
    way_there: int = parameter(None, low=0, high=_TICKS)
    way_back: int = parameter(None, low=0, high=_TICKS)
    burst: int = parameter(None, low=1, high=64)
    t_rcd: int = parameter(None, low=0, high=1000)
    t_rp: int = parameter(None, low=0, high=1000)
    t_ras: int = parameter(None, low=0, high=1000)
    t_cl: int = parameter(None, low=0, high=1000)
    t_cwl: int = parameter(None, low=0, high=1000)
    t_ccd_l: int = parameter(None, low=1, high=1000)
    t_rrd: int = parameter(None, low=1, high=32)
    t_faw: int = parameter(None, low=0, high=32)
    t_rtp: int = parameter(None, low=0, high=1000)
    t_wr: int = parameter(None, low=0, high=1000)
    t_wtr: int = parameter(None, low=0, high=1000)
    t_rtw: int = parameter(None, low=0, high=1000)
    t_refi: int = parameter(None, low=1, high=_TICKS)
    t_rfc: int = parameter(None, low=0, high=_TICKS)
    refresh_stagger: int = parameter(None, low=0, high=_TICKS)
    activate_clocks: int = parameter(None, low=1, high=8)
    precharge_clocks: int = parameter(None, low=1, high=8)
    entries: int = parameter(None, low=1, high=1024)
    write_batch: int = parameter(None, low=1, high=1024)
    port_queue: int = parameter(32, low=1, high=_PLACES)
    reads_in_flight: int = parameter(512, low=1, high=_PLACES)
    writes_in_flight: int = parameter(512, low=1, high=_PLACES)
    channels: int = parameter(None, low=1, high=64)
    pseudo_channels: int = parameter(None, low=1, high=8)
    groups: int = parameter(4, low=1, high=8)
    banks: int = parameter(4, low=1, high=8)
    columns: int = parameter(None, low=1, high=128)
    links: int = parameter(1, low=1, high=4)
    burst_bytes: int = parameter(None, low=8, high=256)
    channel_bit: int = parameter(6, low=5, high=16)
    low_groups: int = parameter(None, low=0, high=3)
    low_columns: int = parameter(None, low=0, high=7)

    def __init_subclass__(cls) -> None:
        """Take the parameters of a device, those under the profile's name, as its defaults."""
        own = _DEVICES.get(vars(cls).get("name", ""), {})
        cls.__annotations__ = {**vars(cls).get("__annotations__", {}), **dict.fromkeys(own, int)}
        for name, value in own.items():
            setattr(cls, name, value)
        super().__init_subclass__()

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        super().__post_init__()
        self.check_powers("channels", "pseudo_channels", "groups", "banks", "columns", "links", "burst_bytes")
        if self.pseudo_channels > self.channels:
            raise ValueError(f"memory pseudo_channels must be at most {self.channels}, the channels")
        if 1 << self.channel_bit < self.burst_bytes:
            raise ValueError(f"memory channel_bit must be at least {_bits(self.burst_bytes)} with such bursts")
        for low, of in (("low_groups", "groups"), ("low_columns", "columns")):
            if (value := getattr(self, low)) > (most := getattr(self, of).bit_length() - 1):
                raise ValueError(f"memory {low} must be at most {most} with so many {of}, not {value!r}")
        if self.t_refi <= self.t_rp + self.t_rfc:
            raise ValueError(f"memory t_refi must be more than t_rp and t_rfc together, not {self.t_refi!r}")

    def _cycles(self, ticks: int) -> int:
        """Convert memory clocks to cycles of the machine, rounded up."""
        return -(-ticks * self.machine_mhz // self.memory_mhz)

    @property
    def unloaded_latency(self) -> int:
        """Latency of a lone read from an open row; opening a row takes longer."""
        return self.request_travel + self._cycles(self.read_ticks()) + self.response_travel

    @property
    def write_latency(self) -> int:
        """Latency of a lone write to an open row."""
        return self.request_travel + self._cycles(self.write_ticks()) + self.response_travel

    def read_ticks(self) -> int:
        """Return the memory clocks of a read from an open row, from the AXI port and back."""
        return self.way_there + self.t_cl + self.burst + self.way_back

    def write_ticks(self) -> int:
        """Return the memory clocks of a write to an open row, from the AXI port and back."""
        return self.way_there + self.t_cwl + self.burst + self.way_back

    def arrival(self, entered: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return when requests are at their pseudo-channels: after travel, at a clock's edge, and the way there."""
        return -(-super().arrival(entered) * self.memory_mhz // self.machine_mhz) + self.way_there

    def link_of(self, address: int) -> int:
        """Return the link that an AE uses for a byte address; each pseudo-channel's are neighbours."""
        channel = self.channel_of(address)
        if self.links == 1:
            return channel
        return channel * self.links + (self.bank_within(self.within(address)) & (self.links - 1))

    def within(self, address: int) -> int:
        """Return the number of a burst in its pseudo-channel: a byte address without the bits of byte and channel."""
        below = address & ((1 << self.channel_bit) - 1)
        return (address >> (self.channel_bit + _bits(self.channels)) << self.channel_bit | below) >> _bits(
            self.burst_bytes
        )

    def bank_within(self, inside: int) -> int:
        """Return the bank of a burst of a pseudo-channel, counted over its groups."""
        low_group = inside & ((1 << self.low_groups) - 1)
        above = inside >> self.low_groups + self.low_columns
        group = (above >> _bits(self.banks)) << self.low_groups | low_group
        return (group & (self.groups - 1)) * self.banks + (above & (self.banks - 1))

    def bank_of(self, address: int) -> int:
        """Return the bank of a byte address, counted over all pseudo-channels."""
        return self.channel_of(address) * self.groups * self.banks + self.bank_within(self.within(address))

    @property
    def divisions(self) -> int:
        """Controllers share nothing."""
        return self.channels // self.pseudo_channels

    @property
    def contention(self) -> Contention:
        """Links, pseudo-channels and banks; the map repeats after one row for every bank."""
        banks = self.channels * self.groups * self.banks
        spread = _bits(self.burst_bytes * self.groups * self.banks * self.columns)
        words: Any = np.arange(0, self.channels << max(self.channel_bit, spread), 8)
        cycles = Fraction(self.machine_mhz, self.memory_mhz)
        return Contention(
            links=self.channels * self.links,
            banks=banks,
            controllers=self.channels,
            bank_busy=self._cycles(self.t_ras + self.t_rp),
            link_by_word=np.asarray(self.link_of(words)),
            bank_by_word=np.asarray(self.bank_of(words)),
            bank_by_place=np.arange(banks),
            rows=RowTimes(
                burst=self.burst * cycles,
                activate=self.t_rrd * cycles,
                five=self.t_faw * cycles,
                opening=self.activate_clocks * cycles,
                closing=self.precharge_clocks * cycles,
                sharing=self.pseudo_channels,
                column=self.t_ccd_l * cycles,
                row=(self.t_ras + self.t_rp) * cycles,
                refresh_interval=self.t_refi * cycles,
                refresh=(self.t_rp + self.t_rfc) * cycles,
            ),
        )

    def build(self, state: State, *, ports: int) -> None:
        """Allocate banks and calendars, large enough that none can overflow."""
        arena, engines, shared = state.arena, state.own.size, state.shared
        links = self.channels * self.links
        ahead, in_flight = self.build_ports(state, ports=ports, links=links)
        shared["least_read"], shared["least_write"] = (
            self._cycles(ticks()) for ticks in (self.read_ticks, self.write_ticks)
        )
        of_channel = self.groups * self.banks
        banks = arena.link_all(shared, "banks", Bank, self.channels * of_channel)
        banks["row"], banks["activated"] = _CLOSED, -self.t_ras - self.t_rp
        banks["refresh"] = self.refresh_stagger * (np.arange(banks.size) // of_channel) % self.t_refi + self.t_refi
        banks["earlier_rows"] = _CLOSED
        windows = arena.link_all(shared, "windows", Window, 2 * self.divisions)
        depth = 1 << (self.entries - 1).bit_length()
        windows["places"]["mask"] = depth - 1
        arena.link(windows, "far", int, depth)
        arena.link_all(shared, "of_channels", Channel, self.channels)
        # Worst case: all requests in flight are for different rows of one bank. Each delay of an access counts once
        # below.
        row = self.t_rcd + self.t_ras + self.t_rp + self.t_cwl + self.burst + self.t_wr + self.t_wtr + self.t_rtp
        shared_by = self.t_ccd_l + self.t_rrd + self.t_faw
        shared_by += self.pseudo_channels * (self.activate_clocks + self.precharge_clocks)
        ticks = in_flight * (row + shared_by + self.t_rtw + self.t_cwl + self.t_wtr + self.burst)
        ticks += (ticks // (self.t_refi - self.t_rp - self.t_rfc) + 2) * (self.t_rp + self.t_rfc) + self.way_there
        ticks += -(-(ahead + self.request_travel) * self.memory_mhz // self.machine_mhz)
        unit = gcd(self.burst, self.t_ccd_l)
        shared["unit"], shared["burst"], shared["group"] = unit, self.burst // unit, self.t_ccd_l // unit
        divisors = {"machine": self.machine_mhz, "memory": self.memory_mhz, "burst": self.burst, "group": self.t_ccd_l}
        for name, divisor in (divisors | {"unit": unit}).items():
            shared[f"of_{name}"] = np.uint64((2**64 - 1) // divisor).astype(np.int64)
        for name, window, of in (
            ("clocks", 1, self.divisions + self.channels),
            ("columns", unit, self.channels * (1 + self.groups)),
        ):
            make_calendars(arena, shared[name], links=of, horizon=ticks // window + 2 * _NEAR, common=True)
        ahead = self._cycles(ticks + self.read_ticks() + self.write_ticks())
        make_calendars(arena, shared["links"], links=engines * links, horizon=ahead, common=True)

    def check(self, state: State, *, ports: int) -> None:
        """Refuse times of banks that no run reaches, as well: bringing them up to date would not end."""
        super().check(state, ports=ports)
        banks = _banks(self, state)
        for name in ("activated", "used", "readable", "closable", "refresh"):
            if banks[name].size and not -_LATEST <= banks[name].min() <= banks[name].max() <= _LATEST:
                raise ValueError("the memory's times of banks are impossible")
        windows = state.arena.at(state.shared["windows"][0])[: 2 * self.divisions]
        channels = state.arena.at(state.shared["of_channels"][0])[: self.channels]
        far = windows["places"]["tail"] - windows["places"]["head"]
        near = np.bitwise_count(windows["near"].view(np.uint64)).sum(axis=1)
        impossible = (far < 0) | (near + far != windows["held"]) | (windows["held"] > self.entries)
        if impossible.any() or (banks["earlier"] < 0).any():
            raise ValueError("the memory's windows of requests are impossible")
        if not 0 <= channels["admitted"].min() <= channels["admitted"].max() <= _LATEST or channels["writes"].min() < 0:
            raise ValueError("the memory's times of requests are impossible")

    def statistics(self, state: State, *, cycles: int, entering: int, serving: int) -> dict[str, Any]:
        """Return accesses by pseudo-channel and bank, row hits and misses, and waiting cycles of requests."""
        banks, shared = _banks(self, state), state.shared
        openings = banks["openings"]
        accesses = banks["hits"] + openings
        opened, hits, conflicts = int(openings.sum()), int(banks["hits"].sum()), int(shared["conflicts"].sum())
        busy = self._cycles(opened * (self.t_ras + self.t_rp) + hits * self.t_ccd_l)
        return {
            "controllers": accesses.reshape(self.channels, -1).sum(axis=1).tolist(),
            "banks": accesses.tolist(),
            "bank_busy_cycles": busy,
            "bank_utilisation": busy / (cycles * banks.size) if cycles else 0.0,
            "rows": {
                "hits": hits,
                "closed": opened - conflicts,
                "conflicts": conflicts,
                "openings": openings.tolist(),
            },
            "refresh": {
                "accesses": int(shared["refreshes"].sum()),
                "waiting_cycles": int(shared["refreshing"].sum()) * self.machine_mhz / self.memory_mhz,
            },
            "waiting_cycles": {
                "link": entering,
                "bank": int(shared["waited"].sum()),
                "return_link": int(shared["returned"].sum()),
            },
        }

    def openings(self, state: State) -> NDArray[np.int64]:
        """Return the number of rows opened by each bank."""
        opened: NDArray[np.int64] = _banks(self, state)["openings"]
        return opened

    def reset_statistics(self, state: State) -> None:
        """Reset the counters."""
        banks = _banks(self, state)
        banks["hits"] = banks["openings"] = 0
        for name in ("waited", "returned", "conflicts", "refreshes", "refreshing"):
            state.shared[name] = 0


def _banks(profile: Dram, state: State) -> NDArray[np.void]:
    return state.arena.at(state.shared["banks"][0])[: profile.channels * profile.groups * profile.banks]
