"""Components that are executed by a C++ class written by hand, instead of cell by cell."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from amaranth.hdl import Value

from cyscc.hw.arbitrated_queues import ArbitratedQueues
from cyscc.hw.bfs.slot_station import SlotStation
from cyscc.hw.exchange.visited_bank import VisitedBank
from cyscc.hw.queue import Queue
from cyscc.hw.queue_bank import QueueBank
from cyscc.hw.switch.credit_bank import CreditBank
from cyscc.hw.switch.request_skid import RequestSkid

WORD = 64
"""Bits of the widest number."""


class Form(Enum):
    """How a class written by hand has the values of a port."""

    FLAG = auto()
    """One bit of each lane, as one number."""

    PLACES = auto()
    """For each bit of the port, that bit of each lane as one number."""

    NUMBER = auto()
    """A number of at most 32 bits for each lane."""

    WORDS = auto()
    """Numbers for each lane, of 32 bits if the port has no more, else of 64."""

    SHARED = auto()
    """Ports numbered from 0 on, each of which is the same for all lanes, as words of 64 bits."""


@dataclass(frozen=True, kw_only=True)
class Primitive:
    """The class for a component.

    Parameters
    ----------
    kind : str
        Its C++ type, within a class that has ``kLanes``.
    inputs : Mapping of str to Form
        Inputs in the order in which ``tick`` takes them; of `Form.SHARED`, by name without number.
    outputs : Mapping of str to Form
        Outputs that are functions of registers, which are data members.
    derived : Mapping of str to str
        Other outputs, as expressions of masks or vectors; in braces are the object ``box``, and inputs of one bit.
    header : str
        The file in `native` that defines it.
    """

    kind: str
    inputs: Mapping[str, Form]
    outputs: Mapping[str, Form]
    derived: Mapping[str, str] = field(default_factory=dict)
    header: str = "primitives.h"


_STREAMS = {"input_valid": Form.FLAG, "input_payload": Form.WORDS, "output_ready": Form.FLAG}
"""Inputs of what stands between two streams."""


def primitive_of(component: Any, *, fifos: bool = False) -> Primitive | None:
    """Return the class for a component; None if it is executed cell by cell.

    Parameters
    ----------
    component : object
        The component.
    fifos : bool
        Whether FIFOs are primitives too.
    """
    match component:
        case ArbitratedQueues():
            return Primitive(
                kind=f"ArbitratedQueues<kLanes, {_queues(component)}>",
                inputs={"push": Form.PLACES, "entry": Form.SHARED, "output_ready": Form.FLAG},
                outputs={
                    "room": Form.PLACES,
                    "output_valid": Form.FLAG,
                    "output_payload": Form.WORDS,
                    "source": Form.NUMBER,
                    "busy": Form.FLAG,
                },
            )
        case QueueBank():
            return Primitive(
                kind=f"QueueBank<kLanes, {_queues(component)}>",
                inputs={"push": Form.PLACES, "entry": Form.SHARED, "pull": Form.NUMBER, "advance": Form.FLAG},
                outputs={
                    "available": Form.NUMBER,
                    "pulling": Form.NUMBER,
                    "shown": Form.WORDS,
                    "room": Form.PLACES,
                    "busy": Form.FLAG,
                },
            )
        case CreditBank():
            return Primitive(
                kind=f"CreditBank<kLanes, {len(component.take)}, {component.depth}>",
                inputs={"take": Form.NUMBER, "give": Form.NUMBER},
                outputs={"available": Form.NUMBER},
            )
        case Queue() if fifos:
            return Primitive(
                kind=f"Queue<kLanes, {component.depth}, {len(Value.cast(component.input.payload))}>",
                inputs=dict(_STREAMS),
                outputs={
                    "input_ready": Form.FLAG,
                    "output_valid": Form.FLAG,
                    "output_payload": Form.WORDS,
                    "level": Form.NUMBER,
                    "moving": Form.FLAG,
                },
            )
        case RequestSkid():
            places = component.link_places
            word = places[0] // WORD if places else 0
            numbers = (len(Value.cast(component.input.payload)), word, *(place - WORD * word for place in places))
            return Primitive(
                kind=f"RequestSkid<kLanes, {', '.join(map(str, numbers))}>",
                inputs=dict(_STREAMS),
                outputs={
                    "input_ready": Form.FLAG,
                    "output_valid": Form.FLAG,
                    "output_payload": Form.WORDS,
                    "link": Form.NUMBER,
                    "even": Form.WORDS,
                    "odd": Form.WORDS,
                    "first": Form.FLAG,
                },
            )
        case SlotStation():
            kernels = range(len(component.asked))
            return Primitive(
                kind=f"SlotStation<{len(kernels)}, {component.most}>",
                header="slot_station.h",
                inputs={
                    **dict.fromkeys(("asked", "room", "done", "epoch"), Form.NUMBER),
                    "token_in_valid": Form.FLAG,
                    "token_in_payload": Form.WORDS,
                },
                outputs={"token_out_valid": Form.FLAG, "token_out_payload": Form.WORDS, "quiescent": Form.FLAG},
                derived={
                    **{f"block{n}_valid": f"Mask::of({{box}}.blocks >> {n})" for n in kernels},
                    **{f"block{n}_payload": f"Long({{box}}.block[{n}])" for n in kernels},
                },
            )
        case VisitedBank():
            rest = len(component.ids.payload)
            advance = "(~Mask::of({box}.fresh_valid) | {fresh_ready})"
            return Primitive(
                kind=f"VisitedBank<kLanes, {rest}, {component.rows}, {component.PART}, {component.id_bits}>",
                inputs={
                    "sweep": Form.FLAG,
                    "row": Form.NUMBER,
                    "ids_valid": Form.FLAG,
                    "ids_payload": Form.WORDS,
                    "fresh_ready": Form.FLAG,
                },
                outputs={"fresh_valid": Form.FLAG, "fresh_payload": Form.WORDS, "idle": Form.FLAG},
                derived={
                    "ids_ready": f"{advance} & ~{{sweep}}",
                    "moving": f"{{sweep}} | ({advance} & (({{ids_valid}} & ~{{sweep}}) | Mask::of({{box}}.held)))",
                },
            )
    return None


def _queues(component: ArbitratedQueues | QueueBank) -> str:
    """Return number of queues, depth, and bits of an entry."""
    entry = Value.cast(component.entry0)
    return f"{len(component.push)}, {component.depth}, {len(entry)}"
