"""Base of processes that read memory: credits, queues of answers, starvation."""

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any, ClassVar

from amaranth.hdl import Module, ShapeLike, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from cyscc.hw.address_generator import ReadCommand
from cyscc.hw.credits import Credits
from cyscc.hw.interfaces import drive
from cyscc.hw.queue import Queue


class ReadingProcess(wiring.Component):
    """A process that reads on credit: each answer has a reserved place before its read is requested.

    Parameters
    ----------
    depth : int
        Places for answers in flight or waiting.
    registered : bool
        Whether a place is free is known a cycle late, and from a register.
    instrument : bool
        With the outputs that only simulation needs.

    Attributes
    ----------
    MEMBERS, RESULTS : mapping of str to member
        The process's own members; those that carry its results.
    RESPONSES : tuple of str
        Its streams of answers, one for each kind of read.

    Members
    -------
    command : Out(stream of ReadCommand)
        To the multiplexer.
    response : In(stream of 64 bits, always ready)
        From the decoder.
    idle : Out(1)
        All of the share was requested, answered and passed on.
    moving : Out(1)
        State changes in this cycle without a command being granted.
    credits : Out
        Free places, for the kernel's status.
    starved : Out(1)
        There is something to request, and no credit for it (instrumented processes only).
    fill : Out
        Answers that wait for the next process (instrumented processes only).
    """

    MEMBERS: ClassVar[Mapping[str, wiring.Member]]
    RESULTS: ClassVar[Mapping[str, wiring.Member]]
    RESPONSES: ClassVar[tuple[str, ...]] = ("response",)

    def __init__(self, *, depth: int, registered: bool = False, instrument: bool = False) -> None:
        self._depth = depth
        self._registered = registered
        self._instrument = instrument
        shown = {"starved": Out(1), "fill": Out(range(depth + Queue.REGISTERS + 1))} if instrument else {}
        super().__init__(
            {
                **self.MEMBERS,
                "command": Out(stream.Signature(ReadCommand)),
                **{response: In(stream.Signature(64, always_ready=True)) for response in self.RESPONSES},
                **self.RESULTS,
                "idle": Out(1),
                "moving": Out(1),
                "credits": Out(range(depth + 1)),
                **shown,
            }
        )

    def _add_queues(self, m: Module, **shapes: ShapeLike) -> list[Any]:
        """Add credits, and FIFOs of as many places by name; return all of them."""
        m.submodules.credits = credits = Credits(self._depth, registered=self._registered)
        queues = {name: Queue(shape, self._depth) for name, shape in shapes.items()}
        for name, queue in queues.items():
            m.submodules[name] = queue
        return [credits, *queues.values()]

    def _read(
        self,
        m: Module,
        credits: Credits,
        queues: Sequence[Queue],
        *,
        requested: Value,
        answers: Queue,
        output: Any,
        taken: Value,
        joined: Sequence[Any],
        kept: Sequence[Any] = (),
        **observed: Any,
    ) -> None:
        """Connect everything from the grant of a command to the answer that is passed on.

        The order of statements decides the names in Verilog.

        Parameters
        ----------
        m : Module
            The process.
        credits : Credits
            Its credits.
        queues : sequence of Queue
            Its FIFOs, whose heads are passed on together.
        requested : Value
            A command is granted in this cycle, which takes a credit.
        answers : Queue
            The FIFO of the responses.
        output : stream
            To the next process.
        taken : Value
            The next process takes an entry in this cycle, which gives the credit back.
        joined : sequence of statements
            Payload of the output.
        kept : sequence of statements
            Inputs of the FIFO that keeps what is known of a request beside its answer.
        **observed
            As of `_report`.
        """
        heads = [queue.output for queue in queues]
        m.d.comb += [
            *drive(credits, take=requested, give=taken),
            *kept,
            *drive(answers.input, valid=self.response.valid, payload=self.response.payload),
            output.valid.eq(reduce(and_, [head.valid for head in heads])),
            *joined,
            *(head.ready.eq(taken if len(heads) > 1 else output.ready) for head in heads),
        ]
        self._report(m, credits, queues, answers=answers, **observed)

    def _report(
        self,
        m: Module,
        credits: Credits,
        queues: Sequence[Queue],
        *,
        answers: Queue,
        moving: Sequence[Value],
        wanted: Value,
        idle: Sequence[Value] = (),
    ) -> None:
        """Drive the outputs that tell the kernel how the process stands.

        Parameters
        ----------
        m, credits, queues, answers
            As of `_read`.
        moving : sequence of Value
            State changes besides those within FIFOs.
        wanted : Value
            There is something to request.
        idle : sequence of Value
            What must hold besides that no answer is in flight or waits.
        """
        late = [credits.moving] if self._registered else []
        m.d.comb += [
            self.idle.eq(reduce(and_, [*idle, credits.home])),
            self.moving.eq(reduce(or_, [*(queue.moving for queue in queues), *late, *moving])),
            self.credits.eq(credits.count),
        ]
        if self._instrument:
            m.d.comb += [self.starved.eq(wanted & ~credits.available), self.fill.eq(answers.level)]
