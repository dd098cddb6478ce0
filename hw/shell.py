"""Engine shell: an Application Engine without its kernels."""

from typing import Any, ClassVar

from amaranth.hdl import Cat, Elaboratable, Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from cyscc.hw.bfs import Kernel as BfsKernel
from cyscc.hw.bfs.slot_station import SlotStation
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.dispatch import Dispatch, connect_host, host_members
from cyscc.hw.exchange.reading_barrier import ReadingGatherer
from cyscc.hw.interfaces import ADDRESS_WIDTH, BLOCK, CHAIN, LINK, RING, drive
from cyscc.hw.intersection import Kernel as IntersectionKernel
from cyscc.hw.module_master import ModuleMaster
from cyscc.hw.registers import NO_START
from cyscc.hw.ring_master import RingMaster
from cyscc.hw.switch.flush_barrier import FlushBarrier

STATION_BITS = ("asked", "room", "epoch")
"""What each kernel tells the station of its module, if there is one: a bit each."""


def module_signature(kernels: int, *, short_ring: bool = False) -> wiring.Signature:
    """Return the signature of the place of a module's kernels, seen from the shell.

    Parameters
    ----------
    kernels : int
        Kernels of the module in this AE.
    short_ring : bool
        The kernels' station on the ring is in the shell.

    Members
    -------
    chain_out, token_out : Out(stream)
        To the first kernel's `chain_in` and `token_in`.
    chain_in, token_in : In(stream)
        From the last kernel's `chain_out` and `token_out`.
    done, error : In(kernels)
        A bit per kernel.
    asked, room, epoch : In(kernels), with a short ring only
        A bit per kernel, see `cyscc.hw.bfs.slot_station.SlotStation`.
    block<k> : Out(stream of Block), with a short ring only
        To kernel k.
    arrival, departure : Out(1), with a short ring only
        The token arrives at the station, and leaves it. There are no `token_out` and `token_in` then.
    """
    ring: dict[str, wiring.Member] = {"token_out": Out(RING), "token_in": In(RING)}
    if short_ring:
        ring = {name: In(kernels) for name in STATION_BITS}
        ring |= {f"block{number}": Out(BLOCK) for number in range(kernels)}
        ring |= {"arrival": Out(1), "departure": Out(1)}
    return wiring.Signature(
        {
            "chain_out": Out(CHAIN),
            "chain_in": In(CHAIN),
            **ring,
            "done": In(kernels),
            "error": In(kernels),
        }
    )


class Shell(wiring.Component):
    """Dispatch, and master and ring master of both modules.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    instrument : bool
        With the ports that only simulation needs.

    Members
    -------
    engine : In(2)
        Number of this AE. AE 0 leads the ring.
    write, read, data, instruction, idle, exception
        See `cyscc.hw.dispatch.Dispatch`.
    intersection_owns : Out(1)
        The intersection module owns the memory ports, else the BFS module.
    bfs, intersection : Out(module_signature(...))
        The places of the kernels.
    asks, busy, flush, answers, flushed
        See `cyscc.hw.switch.flush_barrier.FlushBarrier`; only in a machine with a switch.
    link_in, link_out : stream of LinkToken, always ready
        The ring between AEs, registered; only if there are several.
    read_epoch, exchange_busy : In(BFS kernels), only with an exchange of ids
        Of each kernel, the last run of which all its ids are in the exchange; whether its slice holds an id.
    drained : Out(2), only with an exchange of ids
        By epoch: it is the last one of which each kernel sent all ids, and the exchange is empty. Registered.
    quiescent : Out(1), instrumented shells only
        Registered: state, but for the count of cycles and the slot station's, stays as it is until an input stream is
        valid, or `done`, `error`, `read_epoch` or whether `exchange_busy` is 0 change.
    station_quiescent : Out(1), instrumented shells only, with a slot station
        Registered: the station's state stays as it is until a token comes, `room` changes or `asked` is high.
    elapsed : In(48), instrumented shells only
        Cycles that have passed up to this one since the shell was last clocked, 1 if it is clocked always. So a
        simulation may leave a quiescent shell unclocked.
    """

    LINK_LATENCY: ClassVar[int] = 1
    """From the last kernel to the link."""

    def __init__(self, config: AcceleratorConfig, *, instrument: bool = False) -> None:
        self._config = config
        self._instrument = instrument
        members = {
            "engine": In(2),
            **host_members(),
            "intersection_owns": Out(1),
            "bfs": Out(module_signature(config.bfs_kernels, short_ring=config.short_ring)),
            "intersection": Out(module_signature(config.intersection_kernels)),
        }
        if config.link_queues:
            members |= {
                "asks": In(config.bfs_kernels),
                "busy": In(1),
                "flush": Out(1),
                "answers": In(config.ports),
                "flushed": Out(config.bfs_kernels),
            }
        if config.engines > 1:
            members |= {"link_in": In(LINK), "link_out": Out(LINK)}
        if config.exchange_kernels:
            members |= {
                "read_epoch": In(config.exchange_kernels),
                "exchange_busy": In(config.exchange_kernels),
                "drained": Out(2),
            }
        if instrument:
            members |= {"quiescent": Out(1), "elapsed": In(ADDRESS_WIDTH, init=1)}
            if config.short_ring:
                members |= {"station_quiescent": Out(1)}
        super().__init__(members)

    def elaborate(self, platform: object) -> Elaboratable:
        """Connect the parts."""
        m = Module()
        config, instrument = self._config, self._instrument
        m.submodules.dispatch = dispatch = Dispatch(
            bfs_kernels=config.bfs_kernels, intersection_kernels=config.intersection_kernels, instrument=instrument
        )
        m.submodules.bfs_master = bfs_master = ModuleMaster(
            kernels=config.bfs_kernels, parameters=BfsKernel.PARAMETERS, instrument=instrument
        )
        m.submodules.bfs_ring = bfs_ring = RingMaster(stages=config.ring_stages, initial=0, instrument=instrument)
        m.submodules.intersection_master = intersection_master = ModuleMaster(
            kernels=config.intersection_kernels, parameters=IntersectionKernel.PARAMETERS, instrument=instrument
        )
        m.submodules.intersection_ring = intersection_ring = RingMaster(
            stages=config.ring_stages, initial=NO_START, instrument=instrument
        )

        connect_host(m, flipped(self), dispatch)
        connect(m, dispatch.bfs_question, bfs_master.question)
        connect(m, dispatch.intersection_question, intersection_master.question)
        connect(m, bfs_master.answer, dispatch.bfs_answer)
        connect(m, intersection_master.answer, dispatch.intersection_answer)

        owns = dispatch.intersection
        lead = self.engine == 0
        for place, master, ring in (
            (self.bfs, bfs_master, bfs_ring),
            (self.intersection, intersection_master, intersection_ring),
        ):
            connect(m, master.chain_out, flipped(place.chain_out))
            connect(m, flipped(place.chain_in), master.chain_in)
            if hasattr(place, "token_out"):
                connect(m, ring.ring_out, flipped(place.token_out))
            m.d.comb += [
                *drive(master, done=place.done, error=place.error, engine=self.engine, value=dispatch.value),
                *drive(ring, lead=lead, start=master.launch),
            ]
        m.d.comb += [
            self.idle.eq(dispatch.idle),
            self.exception.eq(dispatch.exception),
            self.intersection_owns.eq(owns),
            bfs_master.begin.eq(dispatch.begin_bfs),
            intersection_master.begin.eq(dispatch.begin_intersection),
            dispatch.parameter.eq(Mux(owns, intersection_master.parameter, bfs_master.parameter)),
            dispatch.complete.eq(
                Mux(
                    owns,
                    intersection_master.complete & ~intersection_ring.running,
                    bfs_master.complete & ~bfs_ring.running,
                )
            ),
            dispatch.failed.eq(bfs_master.failed),
            *drive(dispatch, result=Mux(owns, intersection_ring.result, bfs_ring.result), result_valid=lead),
        ]
        barriers: list[Any] = [self._add_barrier(m)] if config.link_queues else []
        if config.exchange_kernels:
            m.submodules.reading_gatherer = gatherer = ReadingGatherer(config.exchange_kernels)
            m.d.comb += [
                *drive(gatherer, read_epoch=self.read_epoch, exchange_busy=self.exchange_busy),
                self.drained.eq(gatherer.drained),
            ]
            barriers.append(gatherer)
        station = self._add_station(m, bfs_ring) if config.short_ring else None
        last = station.token_out if station else self.bfs.token_in
        if config.engines == 1:
            connect(m, last if station else flipped(last), bfs_ring.ring_in)
            connect(m, flipped(self.intersection.token_in), intersection_ring.ring_in)
        else:
            self._connect_link(m, last, bfs_ring=bfs_ring, intersection_ring=intersection_ring)
        if instrument:
            parts = (dispatch, bfs_master, bfs_ring, intersection_master, intersection_ring)
            moving = [part.moving for part in (*parts, *barriers)]
            if config.engines > 1:
                moving += [last.valid, self.intersection.token_in.valid, self.link_out.valid]
            m.d.comb += dispatch.elapsed.eq(self.elapsed)
            m.d.sync += self.quiescent.eq(~Cat(moving).any())
        return m

    def _add_barrier(self, m: Module) -> FlushBarrier:
        """Add the flush barrier of the module that owns the memory ports."""
        config = self._config
        kernels = config.bfs_kernels
        m.submodules.flush_barrier = barrier = FlushBarrier(kernels=kernels, links=config.ports)
        intersection = (1 << config.intersection_kernels) - 1
        m.d.comb += [
            *drive(barrier, asks=self.asks, busy=self.busy, answers=self.answers),
            barrier.working.eq(Mux(self.intersection_owns, intersection, (1 << kernels) - 1)),
            *drive(self, flush=barrier.flush, flushed=barrier.flushed),
        ]
        return barrier

    def _add_station(self, m: Module, ring: RingMaster) -> Any:
        """Add the station of the BFS kernels on the ring."""
        config, place = self._config, self.bfs
        m.submodules.slot_station = station = SlotStation(
            kernels=config.bfs_kernels, depth=config.visit_depth, instrument=self._instrument
        )
        connect(m, ring.ring_out, station.token_in)
        for number in range(config.bfs_kernels):
            connect(m, getattr(station, f"block{number}"), flipped(getattr(place, f"block{number}")))
        m.d.comb += [getattr(station, name).eq(getattr(place, name)) for name in (*STATION_BITS, "done")]
        m.d.comb += drive(place, arrival=ring.ring_out.valid, departure=station.token_out.valid)
        if self._instrument:
            m.d.comb += self.station_quiescent.eq(station.quiescent)
        return station

    def _connect_link(self, m: Module, last: Any, *, bfs_ring: RingMaster, intersection_ring: RingMaster) -> None:
        """Add the way from the link to the rings, and to the link from the last kernels or the station."""
        arrived = self.link_in.payload
        for ring, mine in ((bfs_ring, ~arrived.intersection), (intersection_ring, arrived.intersection)):
            m.d.comb += drive(ring.ring_in, valid=self.link_in.valid & mine, payload=arrived.token)
        m.d.sync += self.link_out.valid.eq(last.valid | self.intersection.token_in.valid)
        with m.If(last.valid):
            m.d.sync += drive(self.link_out.payload, token=last.payload, intersection=0)
        with m.If(self.intersection.token_in.valid):
            m.d.sync += drive(self.link_out.payload, token=self.intersection.token_in.payload, intersection=1)
