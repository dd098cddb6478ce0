"""Accelerator: one to four Application Engines and the link between them (Attia et al. 2015, figure 8)."""

from collections.abc import Callable

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from cyscc.hw.application_engine import ApplicationEngine
from cyscc.hw.bfs.slot_allocator import SlotAllocator
from cyscc.hw.bfs.slot_station import SlotStation
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.interfaces import LinkToken
from cyscc.hw.shell import Shell


def bfs_passage(config: AcceleratorConfig) -> int:
    """Return the cycles in which the token passes the BFS kernels of an AE, or their station."""
    return SlotStation.LATENCY if config.short_ring else SlotAllocator.LATENCY * config.bfs_kernels


def ring_turn(config: AcceleratorConfig) -> int:
    """Return the cycles of a turn of the BFS module's token.

    It passes kernels or their stations, ring masters and, with several AEs, links.
    """
    link = Shell.LINK_LATENCY + config.link_cycles if config.engines > 1 else 0
    return config.engines * (bfs_passage(config) + config.ring_stages + link)


class Accelerator(wiring.Component):
    """The AEs of a machine, linked in a ring of `config.link_cycles` a hop.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    instrument : bool
        With the outputs that only simulation needs.
    make_engine : callable, optional
        Makes a substitute with the same signature for each AE.

    Attributes
    ----------
    engines : list of wiring.Component
        The AEs. Their members other than `engine`, `link_in` and `link_out` are the machine's boundary.
    """

    def __init__(
        self,
        config: AcceleratorConfig,
        *,
        instrument: bool = False,
        make_engine: Callable[[AcceleratorConfig], wiring.Component] | None = None,
    ) -> None:
        self._config = config
        make = make_engine or (lambda config: ApplicationEngine(config, instrument=instrument))
        self.engines = [make(config) for _ in range(config.engines)]
        super().__init__({"idle": Out(1)})

    def elaborate(self, platform: object) -> Elaboratable:
        """Add the AEs and the links."""
        m = Module()
        for number, engine in enumerate(self.engines):
            m.submodules[f"engine{number}"] = engine
            m.d.comb += engine.engine.eq(number)
        if len(self.engines) > 1:
            for number, engine in enumerate(self.engines):
                following = self.engines[(number + 1) % len(self.engines)]
                valid, token = engine.link_out.valid, engine.link_out.payload
                for hop in range(self._config.link_cycles):
                    next_valid = Signal(name=f"link{number}_valid{hop}")
                    next_token = Signal(LinkToken, name=f"link{number}_token{hop}")
                    m.d.sync += [next_valid.eq(valid), next_token.eq(token)]
                    valid, token = next_valid, next_token
                m.d.comb += [following.link_in.valid.eq(valid), following.link_in.payload.eq(token)]
        m.d.comb += self.idle.eq(sum(engine.idle for engine in self.engines) == len(self.engines))
        return m
