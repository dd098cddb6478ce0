"""Signatures and payloads shared by the components: memory port, control chain, token ring, kernel."""

from typing import Any

from amaranth.hdl import ValueLike
from amaranth.lib import data, enum, stream
from amaranth.lib.wiring import In, Out, Signature

from cyscc.hw.causes import Cause
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.exchange.wires import PLANES, rest_bits
from cyscc.hw.registers import KERNEL_WORD_BITS

ADDRESS_WIDTH = 48
"""Width of a memory address in bits (the HC-2's virtual addresses)."""

FILL_WIDTH = 16
"""Bits in which an instrumented kernel shows how many entries one of its FIFOs holds."""

SIZE_4 = 0
"""Access size: a 4-byte element."""
SIZE_8 = 1
"""Access size: an 8-byte word."""


def read_request(tag_bits: int) -> data.StructLayout:
    """Return the layout of a read whose tag has `tag_bits` bits."""
    return data.StructLayout({"address": ADDRESS_WIDTH, "size": 1, "tag": tag_bits})


def response(tag_bits: int) -> data.StructLayout:
    """Return the layout of a read's answer whose tag has `tag_bits` bits."""
    return data.StructLayout({"data": 64, "tag": tag_bits})


TAG_BITS = 2
"""Width of the tag with which a kernel tells the reads of its processes apart."""

ReadRequest = read_request(TAG_BITS)
"""A read: byte address, size (`SIZE_4` or `SIZE_8`), and the tag that its response returns."""

WriteRequest = data.StructLayout({"data": 64, "address": ADDRESS_WIDTH, "size": 1})
"""A write: a 4-byte write takes the low half of the data."""

Response = response(TAG_BITS)
"""The answer to a read: a 4-byte element comes in the low half, zero-extended."""


class ChainOp(enum.Enum, shape=2):
    """Operation of a message on the control chain."""

    WRITE = 0
    """Parameter register number `index` takes `value`."""
    START = 1
    """Start; `value` is this kernel's number, and goes on increased by one."""
    READ = 2
    """The kernel that is reached with `hops` zero answers with its state word `index`; the others count `hops` down."""
    DATA = 3
    """The answer to a `READ`, on its way to the master."""


ChainMessage = data.StructLayout({"op": ChainOp, "index": 4, "hops": 4, "value": ADDRESS_WIDTH})
"""A message of the control chain, which runs from a module's master through all its kernels and back."""

KernelQuestion = data.StructLayout({"word": KERNEL_WORD_BITS, "hops": 4})
"""A question for a word of a kernel's state, asked on a stream of as many plain bits: how many kernels it passes."""

Token = data.StructLayout({"value": 32, "done": 1, "epoch": 1})
"""The token (Attia et al. 2015, section 5.4).

`value` is the next free slot (BFS) or the next start (intersection). `done` stays one for a whole turn only if each
kernel that was passed had finished its work of the run that `epoch` names.
"""


LinkToken = data.StructLayout({"token": Token, "intersection": 1})
"""A token on the link between AEs, and the module that it belongs to."""

CHAIN = stream.Signature(ChainMessage, always_ready=True)
"""The control chain between two of its stations."""

RING = stream.Signature(Token, always_ready=True)
"""The token ring between two of its stations."""

LINK = stream.Signature(LinkToken, always_ready=True)
"""The token ring between two AEs."""

Block = data.StructLayout({"first": 32, "count": 10})
"""Slots that follow each other, reserved for a BFS kernel."""

BLOCK = stream.Signature(Block, always_ready=True)
"""Slots from the station of an AE to a kernel, in a machine with a short ring."""


def drive(target: Any, **values: ValueLike) -> list[Any]:
    """Return the statements that drive members of a component or fields of a structure, in the order given."""
    return [getattr(target, name).eq(value) for name, value in values.items()]


def MemoryPortSignature() -> Signature:  # noqa: N802 - signatures are named like the classes they stand for
    """Return the signature of a kernel's memory port: `memory_port_signature` with `TAG_BITS`."""
    return memory_port_signature(TAG_BITS)


def port_tag_bits(config: AcceleratorConfig) -> int:
    """Return the width of the tags of a machine's memory ports: behind a switch they are the kernels' numbers."""
    return number_bits(config.bfs_kernels) if config.link_queues else TAG_BITS


def number_bits(count: int) -> int:
    """Return the width of a number below `count`, 1 bit at least."""
    return max(1, (count - 1).bit_length())


def memory_port_signature(tag_bits: int) -> Signature:
    """Return the signature of a memory port, seen from the hardware that uses it.

    Parameters
    ----------
    tag_bits : int
        Width of the tag that comes back with a read's answer.

    Members
    -------
    read : Out(stream of read_request(tag_bits))
        Reads. Independent of writes: neither channel's backpressure stops the other.
    write : Out(stream of WriteRequest)
        Writes.
    response : In(stream of response(tag_bits))
        Answers, in the order of the reads; always ready, since only reads with a reserved place are requested.
    flush : Out(1)
        Pulse: answer when all writes so far are complete.
    flushed : In(1)
        Pulse: they are.
    """
    return Signature(
        {
            "read": Out(stream.Signature(read_request(tag_bits))),
            "write": Out(stream.Signature(WriteRequest)),
            "response": In(stream.Signature(response(tag_bits), always_ready=True)),
            "flush": Out(1),
            "flushed": In(1),
        }
    )


def KernelSignature(  # noqa: N802 - as classes
    *, instrument: bool, fifos: int = 0, exchange: int = 0, short_ring: bool = False
) -> Signature:
    """Return the signature of a kernel; BFS and intersection kernels have the same.

    All outputs but `fill` are registered.

    Parameters
    ----------
    instrument : bool
        With the members that only simulation needs.
    fifos : int
        FIFOs of the kernel.
    exchange : int
        Kernels of the AE that exchange ids; 0 if this one takes no part.
    short_ring : bool
        The kernel is no hop of the token ring: the AE's `cyscc.hw.bfs.slot_station.SlotStation` gives it its slots.

    Members
    -------
    chain_in, chain_out : stream of ChainMessage, always ready
        The control chain, one register per kernel.
    token_in, token_out : stream of Token, always ready, not with a short ring
        The token ring, one hop a cycle.
    asked, room : Out(1), with a short ring only
        One more vertex needs a slot; a block of slots can come.
    epoch : Out(1), with a short ring only
        The run that `done` speaks of.
    block : In(stream of Block, always ready), with a short ring only
        Slots.
    port : Out(MemoryPortSignature())
        The memory port.
    done : Out(1)
        Everything of this run is requested, answered, reserved, written and flushed.
    error : Out(1)
        A vertex was dropped in this run for lack of a slot.
    send_even, send_odd : Out(exchange), with an exchange only
        By exchange slice: it takes the id of the plane, at most one.
    id_even, id_odd : Out(rest_bits(exchange)), with an exchange only
        The id, without the bits of plane and owner.
    room_even, room_odd : In(exchange), with an exchange only
        By slice: it takes an id of this kernel even if two others are on their way to it.
    owned_even, owned_odd : In(stream of rest_bits(exchange) bits), with an exchange only
        Ids that this kernel owns, without the bits that say so. Their `ready` is a function of registers alone, and low
        while no run has begun.
    read_epoch, drained : Out(1), In(2), with an exchange only
        See `cyscc.hw.exchange.reading_barrier.ReadingBarrier`.
    quiescent : Out(1), instrumented kernels only
        Unless a valid input arrives or the port takes a request, this cycle changes nothing.
    cause : Out(Cause), instrumented kernels only
        Why the kernel issued a request or none in the last cycle that changed anything.
    fill : Out(FILL_WIDTH * fifos), instrumented kernels only
        Entries held in each FIFO; follows from registers alone.
    """
    members = {
        "chain_in": In(CHAIN),
        "chain_out": Out(CHAIN),
        **(
            {"asked": Out(1), "room": Out(1), "epoch": Out(1), "block": In(BLOCK)}
            if short_ring
            else {"token_in": In(RING), "token_out": Out(RING)}
        ),
        "port": Out(MemoryPortSignature()),
        "done": Out(1),
        "error": Out(1),
    }
    if exchange:
        for plane in PLANES:
            members |= {
                f"send_{plane}": Out(exchange),
                f"id_{plane}": Out(rest_bits(exchange)),
                f"room_{plane}": In(exchange),
                f"owned_{plane}": In(stream.Signature(rest_bits(exchange))),
            }
        members |= {"read_epoch": Out(1), "drained": In(2)}
    if instrument:
        members |= {"quiescent": Out(1), "cause": Out(Cause), "fill": Out(FILL_WIDTH * fifos)}
    return Signature(members)
