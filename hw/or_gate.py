"""OR gate: words joined bit by bit, in as many LUTs as they have bits."""

from typing import ClassVar

from amaranth.hdl import Cat, Elaboratable, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class OrGate(wiring.Component):
    """Joins a few words bit by bit.

    A component of its own, because synthesis does not cross its boundary: it divides larger gates such that each bit of
    16 words takes six LUTs instead of three.

    Parameters
    ----------
    width : int
        Bits of a word.
    inputs : int
        Words, at most `MOST`.

    Members
    -------
    word0, word1, ... : In(width)
        The words.
    joined : Out(width)
        A bit is set if it is set in any of them.

    Notes
    -----
    Latency 0 cycles.
    """

    MOST: ClassVar[int] = 6
    """Inputs of a LUT of the LX330."""

    def __init__(self, width: int, *, inputs: int) -> None:
        if not 1 <= inputs <= self.MOST:
            raise ValueError(f"inputs must be from 1 to {self.MOST}, not {inputs!r}")
        self._width = width
        self._inputs = inputs
        super().__init__({**{f"word{n}": In(width) for n in range(inputs)}, "joined": Out(width)})

    def elaborate(self, platform: object) -> Elaboratable:
        """Build a gate for each bit."""
        m = Module()
        words = [getattr(self, f"word{n}") for n in range(self._inputs)]
        m.d.comb += self.joined.eq(Cat(Cat(word[bit] for word in words).any() for bit in range(self._width)))
        return m
