"""Response decoder: each response to the process whose tag it bears (Attia et al. 2015, section 5.2)."""

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.interfaces import Response


class ResponseDecoder(wiring.Component):
    """Routes the responses of a memory port by tag. Shared by both kinds of kernel; combinational.

    Parameters
    ----------
    processes : int
        Tags in use, from 0.

    Members
    -------
    response : In(stream of Response, always ready)
        From the memory port.
    process0, process1, ... : Out(stream of 64 bits)
        To the FIFOs of the processes. They hold credits for every response, so `ready` is not looked at.
    """

    def __init__(self, processes: int) -> None:
        if not 1 <= processes <= 4:
            raise ValueError(f"processes must be from 1 to 4, not {processes!r}")
        self._processes = processes
        super().__init__(
            {
                "response": In(stream.Signature(Response, always_ready=True)),
                **{f"process{tag}": Out(stream.Signature(64, always_ready=True)) for tag in range(processes)},
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Build the decoder."""
        m = Module()
        for tag in range(self._processes):
            process = getattr(self, f"process{tag}")
            m.d.comb += [
                process.valid.eq(self.response.valid & (self.response.payload.tag == tag)),
                process.payload.eq(self.response.payload.data),
            ]
        return m
