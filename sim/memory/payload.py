"""Fields of a request's payload word."""

from dataclasses import dataclass
from typing import Self

from amaranth.lib import data

from sim.memory.records import TAG_BITS_LIMIT

__all__ = ["PayloadLayout"]


@dataclass(frozen=True, kw_only=True)
class PayloadLayout:
    """Fields of a request's payload word, as the hardware packs them.

    Parameters
    ----------
    address_bits : int
        Width of the byte address, which is in the lowest bits.
    size_bit : int
        Position of the size: 0 for 4 bytes, 1 for 8.
    tag_shift, tag_bits : int
        Position and width (at most 16) of the tag that comes back with the data of a read.

    Raises
    ------
    ValueError
        If a field is empty, too wide, or overlaps another.
    """

    address_bits: int = 48
    size_bit: int = 48
    tag_shift: int = 49
    tag_bits: int = 15

    @classmethod
    def of(cls, layout: data.StructLayout) -> Self:
        """Return those of a request's layout."""
        return cls(
            address_bits=layout["address"].width,
            size_bit=layout["size"].offset,
            tag_shift=layout["tag"].offset,
            tag_bits=layout["tag"].width,
        )

    def __post_init__(self) -> None:
        """Refuse fields that do not fit."""
        if not 13 <= self.address_bits <= 48:
            raise ValueError(f"address_bits must be from 13 to 48, not {self.address_bits!r}")
        if not self.address_bits <= self.size_bit <= 63:
            raise ValueError(f"size_bit must be from {self.address_bits} to 63, not {self.size_bit!r}")
        if not 1 <= self.tag_bits <= TAG_BITS_LIMIT:
            raise ValueError(f"tag_bits must be from 1 to {TAG_BITS_LIMIT}, not {self.tag_bits!r}")
        if not self.address_bits <= self.tag_shift <= 64 - self.tag_bits:
            raise ValueError(
                f"tag_shift must be from {self.address_bits} to {64 - self.tag_bits}, not {self.tag_shift!r}"
            )
        if self.tag_shift <= self.size_bit < self.tag_shift + self.tag_bits:
            raise ValueError(f"size_bit must be outside the tag, not {self.size_bit!r}")
