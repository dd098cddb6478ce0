"""Profile `hbm2`: the two HBM2 stacks of an AMD (Xilinx) Alveo U280, with pseudo-channels, banks, rows and refresh.

Sources: AMD PG276 and UG1393; "Shuhai: Benchmarking High Bandwidth Memory on FPGAs" (Wang, Huang, Zhang and Alonso,
FCCM 2020), measured on the board; the simulators DRAMsim3 (`HBM2_4Gb_x128.ini`) and gem5 (`HBM_2000_4H_1x64`), whose
times are rounded up to clocks of 900 MHz.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cyscc.sim.memory.crossbar import Calendar, divide_calendars, make_calendars
from cyscc.sim.memory.profiles.ports import QueuedPorts
from cyscc.sim.memory.profiles.profile import Contention, RowTimes, State, parameter
from cyscc.sim.memory.structures import Constant, Record, Rows

_CYCLES = 1_000_000
_TICKS = 100_000
_PLACES = 65_536
_BURST_BITS = 5
"""Address bits within a burst of 4 beats of 64 bits, 32 bytes, which is always transferred as a whole."""
_CLOSED = -1
_LATEST = 1 << 50
"""A later time than any; `_whole` is exact up to it."""


class Bank(Record):
    """A bank, in memory clocks: its open row, and the earliest times of its next commands.

    `row` is the open row, below 0 if none; `activated` the time of its activate; `used` that of the last column
    command; `readable` the earliest time of a read; `closable` that of a precharge; `refresh` is when the next refresh
    is due.
    """

    row: int
    activated: int
    used: int
    readable: int
    closable: int
    refresh: int
    hits: int
    openings: int


class Shared(Record):
    """Banks by pseudo-channel, and the resources shared by the banks of a pseudo-channel, also by pseudo-channel.

    `bursts`, `groups` and `activates` are calendars whose cycles are windows: of a burst on the data bus, of a column
    command to a bank group, and of an activate; the `_now` of each is the current window. `waited` counts the cycles of
    accesses beyond those of an open row, `returned` the cycles waiting for a return link, `refreshing` the memory
    clocks that `refreshes` accesses waited for a refresh.
    """

    least_read: Constant
    least_write: Constant
    bursts_now: int
    groups_now: int
    activates_now: int
    waited: int
    returned: int
    conflicts: int
    refreshes: int
    refreshing: int
    banks: Rows[Bank]
    links: Calendar
    bursts: Calendar
    groups: Calendar
    activates: Calendar


def _bits(count: int) -> int:
    """Return the base-2 logarithm of a power of two."""
    return count.bit_length() - 1


@dataclass(frozen=True, kw_only=True)
class Hbm2(QueuedPorts):
    """Pseudo-channels of HBM2 with an open-page policy; each AE has its own crossbar to all of them.

    Each request occupies a whole burst of 32 bytes; requests are not merged. Banks serve requests in the order in which
    they take effect; a waiting bank does not block others. Resources shared by the banks of a pseudo-channel are booked
    in windows, and a later request may use a free earlier window: one burst per `burst`, one column command to a bank
    group per `t_ccd_l`, one activate per `t_rrd` or quarter of `t_faw`, whichever is longer. Data bus turnaround
    between banks is free, as the board's controllers group reads and writes.

    Address bits from the lowest on: 5 for the byte in its burst, `low_groups` of the bank group, `low_columns` of the
    column, the bank, the rest of the group, the rest of the column, and the row; the bits of the pseudo-channel lie
    among them. Times are in memory clocks, except for travel and queues; a clock domain crossing ends at the next edge.

    Parameters
    ----------
    machine_mhz, memory_mhz : int
        Clocks of the machine and the memory: 1.8 Gb/s per pin at two bits per clock (PG276).
    channels, groups, banks, columns : int
        Pseudo-channels (PG276, UG1393); bank groups of each; banks of a group; bursts of a row (gem5). Powers of two.
    links : int
        Links of an AE to each pseudo-channel, selected by the bank; a power of two. An assumption: a crossbar in the
        FPGA's fabric, not the AXI switch, whose lateral links could carry only a part of random traffic.
    channel_bit, low_groups, low_columns : int
        Lowest address bit of the pseudo-channel, an assumption: the board's map has blocks of 256 MB. Bits of the bank
        group and of the column that lie lowest, as by default on the board (Shuhai).
    request_travel, response_travel, flush_travel : int
        From a link to the pseudo-channel's AXI port, and back; least time of a flush. Assumptions.
    way_there, way_back : int
        From the AXI port to a command, and from the data back. 106.7 ns of an access to an open row, measured at the
        AXI port (Shuhai: 48 cycles of 450 MHz), less `t_cl` and a burst; that they are equal is an assumption.
    burst, t_ccd_l : int
        4 beats at two a clock; column to column of a bank group, twice that (DRAMsim3).
    t_rcd, t_rp : int
        Activate to column; precharge to activate. 15.5 ns each, measured (Shuhai: 7 cycles of 450 MHz each).
    t_ras, t_rtp, t_wr, t_wtr, t_cl, t_cwl, t_rrd : int
        Activate to precharge; read to precharge; end of a write to precharge, and to a read of the bank; read and write
        latency; activate to activate. 34, 6, 16, 8, 14, 4 and 4 ns (DRAMsim3).
    t_faw : int
        Time of four activates. 16 ns (gem5); DRAMsim3 has 30 ns, of a channel of 128 bits.
    t_refi, t_rfc, refresh_stagger : int
        From refresh to refresh of all banks of a pseudo-channel, after a `t_rp` to close the rows, and its length: 3.9
        us and 260 ns (DRAMsim3, of 4 Gb a channel). From that of a pseudo-channel to the next one's: an assumption.
    port_queue, reads_in_flight, writes_in_flight : int
        As of `hc2`. Assumptions.
    """

    name: ClassVar[str] = "hbm2"
    clock: ClassVar[str] = "machine_mhz"
    Shared: ClassVar[type[Record]] = Shared

    machine_mhz: int = parameter(150, low=1, high=10_000)
    memory_mhz: int = parameter(900, low=1, high=10_000)
    request_travel: int = parameter(4, low=0, high=_CYCLES)
    response_travel: int = parameter(4, low=0, high=_CYCLES)
    flush_travel: int = parameter(24, low=1, high=_CYCLES)
    way_there: int = parameter(40, low=0, high=_TICKS)
    way_back: int = parameter(41, low=0, high=_TICKS)
    burst: int = parameter(2, low=1, high=64)
    t_rcd: int = parameter(14, low=0, high=1000)
    t_rp: int = parameter(14, low=0, high=1000)
    t_ras: int = parameter(31, low=0, high=1000)
    t_cl: int = parameter(13, low=0, high=1000)
    t_cwl: int = parameter(4, low=0, high=1000)
    t_ccd_l: int = parameter(4, low=1, high=1000)
    t_rrd: int = parameter(4, low=1, high=1000)
    t_faw: int = parameter(15, low=0, high=4000)
    t_rtp: int = parameter(6, low=0, high=1000)
    t_wr: int = parameter(15, low=0, high=1000)
    t_wtr: int = parameter(8, low=0, high=1000)
    t_refi: int = parameter(3510, low=1, high=_TICKS)
    t_rfc: int = parameter(234, low=0, high=_TICKS)
    refresh_stagger: int = parameter(109, low=0, high=_TICKS)
    port_queue: int = parameter(32, low=1, high=_PLACES)
    reads_in_flight: int = parameter(512, low=1, high=_PLACES)
    writes_in_flight: int = parameter(512, low=1, high=_PLACES)
    channels: int = parameter(32, low=1, high=64)
    groups: int = parameter(4, low=1, high=8)
    banks: int = parameter(4, low=1, high=8)
    columns: int = parameter(32, low=1, high=128)
    links: int = parameter(1, low=1, high=4)
    channel_bit: int = parameter(6, low=5, high=16)
    low_groups: int = parameter(1, low=0, high=3)
    low_columns: int = parameter(5, low=0, high=7)

    def __post_init__(self) -> None:
        """Refuse impossible values."""
        super().__post_init__()
        self.check_powers("channels", "groups", "banks", "columns", "links")
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

    def activate_window(self) -> int:
        """Return the memory clocks of a window for one activate of a pseudo-channel."""
        return max(self.t_rrd, (self.t_faw + 3) >> 2)

    def channel_of(self, address: int) -> int:
        """Return the pseudo-channel of a byte address."""
        return (address >> self.channel_bit) & (self.channels - 1)

    def link_of(self, address: int) -> int:
        """Return the link that an AE uses for a byte address; each pseudo-channel's are neighbours."""
        channel = self.channel_of(address)
        if self.links == 1:
            return channel
        return channel * self.links + (self.bank_within(self.within(address)) & (self.links - 1))

    def within(self, address: int) -> int:
        """Return the number of a burst in its pseudo-channel: a byte address without the bits of byte and channel."""
        below = address & ((1 << self.channel_bit) - 1)
        return (address >> (self.channel_bit + _bits(self.channels)) << self.channel_bit | below) >> _BURST_BITS

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
        """Pseudo-channels share nothing."""
        return self.channels

    @property
    def contention(self) -> Contention:
        """Links, pseudo-channels and banks; the map repeats after one row for every bank."""
        banks = self.channels * self.groups * self.banks
        spread = _BURST_BITS + _bits(self.groups * self.banks * self.columns)
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
                activate=self.activate_window() * cycles,
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
        banks = arena.link(shared[:1], "banks", Bank, self.channels * of_channel)[0]
        arena.share(shared, "banks")
        banks["row"], banks["activated"] = _CLOSED, -self.t_ras - self.t_rp
        banks["refresh"] = self.refresh_stagger * (np.arange(banks.size) // of_channel) % self.t_refi + self.t_refi
        # Worst case: all requests in flight are for different rows of one bank. Each delay of an access counts once
        # below.
        row = self.t_rcd + self.t_ras + self.t_rp + self.t_cwl + self.burst + self.t_wr + self.t_wtr + self.t_rtp
        ticks = in_flight * (row + self.t_ccd_l + self.activate_window())
        ticks += (ticks // (self.t_refi - self.t_rp - self.t_rfc) + 2) * (self.t_rp + self.t_rfc) + self.way_there
        ticks += -(-(ahead + self.request_travel) * self.memory_mhz // self.machine_mhz)
        for name, window, of in (
            ("bursts", self.burst, self.channels),
            ("groups", self.t_ccd_l, self.channels * self.groups),
            ("activates", self.activate_window(), self.channels),
        ):
            make_calendars(arena, shared[name], links=of, horizon=ticks // window, common=True)
        ahead = self._cycles(ticks + self.read_ticks() + self.write_ticks())
        make_calendars(arena, shared["links"], links=engines * links, horizon=ahead, common=True)

    def divide(self, state: State, parts: int) -> None:
        """Divide the calendars."""
        for name in ("links", "bursts", "groups", "activates"):
            divide_calendars(state.shared[name], parts)

    def check(self, state: State, *, ports: int) -> None:
        """Refuse times of banks that no run reaches, as well: bringing them up to date would not end."""
        super().check(state, ports=ports)
        banks = _banks(self, state)
        for name in ("activated", "used", "readable", "closable", "refresh"):
            if banks[name].size and not -_LATEST <= banks[name].min() <= banks[name].max() <= _LATEST:
                raise ValueError("the memory's times of banks are impossible")

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


def _banks(profile: Hbm2, state: State) -> NDArray[np.void]:
    return state.arena.at(state.shared["banks"][0])[: profile.channels * profile.groups * profile.banks]
