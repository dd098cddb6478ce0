"""Division of signals into slices computed separately, such as a packed payload into its fields and flags."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from cyscc.sim.errors import BuildError
from cyscc.sim.executors.compiled.lanes.netlist import Bits, Box, Cell, Netlist
from cyscc.sim.executors.compiled.lanes.primitives import WORD, Form

REGISTERS = frozenset({"$dff", "$dffe", "$sdff", "$sdffe", "$sdffce"})
"""Register cells."""

_MOST_RUNS = 6
"""Most pieces of an operand to slice; one with more, such as a status word of flags, is assembled and kept whole."""

_FEWEST = 4
"""Fewest bits that are computed together although they are described one by one."""

_BITWISE = frozenset({"$and", "$or", "$xor", "$not"})


@dataclass(eq=False)
class Signal:
    """Signal driven by one cell, memory read port, box, or input.

    Parameters
    ----------
    name : str
        A name for C++.
    width : int
        Bits.
    cell : Cell or None
        The cell; None for an input, and for an output of a box.
    divisible : bool
        Whether its slices can be computed separately.
    cuts : set of int
        Boundaries between its slices; shared by the read ports of a memory.
    operands : list of Bits
        Operands whose bits map one to one to its own.
    members : dict of int to str
        Where slices of a register or an input are kept that have no member of their own, by first bit.
    words : dict of int to (int, int)
        First bit and width of the word in which a slice of a memory is kept, by first bit.
    form : Form or None
        How an output of a box is kept, or an input that goes to a box and is kept as that takes it.
    is_input : bool
        Whether it is an input.
    derived : str or None
        How an output of a box follows from some of its inputs, see `Primitive.derived`.
    inputs : Mapping of str to Bits
        Those inputs, and others.
    """

    def member(self, first: int) -> str:
        """Return the C++ member that holds a slice of a register or an input."""
        return self.members.get(first, f"{self.name}_{first}")

    name: str
    width: int
    cell: Cell | None
    divisible: bool
    cuts: set[int] = field(default_factory=set)
    operands: list[Bits] = field(default_factory=list)
    members: dict[int, str] = field(default_factory=dict)
    words: dict[int, tuple[int, int]] = field(default_factory=dict)
    form: Form | None = None
    is_input: bool = False
    derived: str | None = None
    inputs: Mapping[str, Bits] = field(default_factory=dict)

    def slices(self) -> list[tuple[int, int]]:
        """Return the first bit and the end of each slice."""
        places = [0, *sorted(self.cuts), self.width]
        return list(pairwise(places))


@dataclass(frozen=True)
class Run:
    """Successive bits of one signal, or of a constant.

    Parameters
    ----------
    signal : Signal or None
        The signal; None for a constant.
    first : int
        First bit in the signal, or the constant's value.
    width : int
        Bits.
    """

    signal: Signal | None
    first: int
    width: int

    def home(self) -> tuple[int, int]:
        """Return first bit and width of the slice that contains it."""
        assert self.signal is not None
        start, end = next(part for part in self.signal.slices() if part[0] <= self.first < part[1])
        return start, end - start


def padded(bits: Bits, width: int, *, signed: bool = False) -> Bits:
    """Return an operand extended to a width."""
    extension = bits[-1] if signed and bits else "0"
    return (*bits[:width], *([extension] * (width - len(bits))))


class Signals:
    """The signals of a netlist, cut where an operand of a divisible cell changes from one signal to another.

    Parameters
    ----------
    netlist : Netlist
        The cells.

    Raises
    ------
    BuildError
        An arithmetic value is wider than a word.
    """

    def __init__(self, netlist: Netlist) -> None:
        self._drivers: dict[int, tuple[Signal, int]] = {}
        self._signals: list[Signal] = []
        self.memories: list[Cell] = []
        self.registers: list[Signal] = []
        for port in netlist.ports:
            if port.is_input:
                self._add(
                    Signal(name=port.name, width=len(port.bits), cell=None, divisible=True, is_input=True), port.bits
                )
        for number, box in enumerate(netlist.boxes):
            self._add_box(box, number)
        for number, cell in enumerate(netlist.cells):
            if cell.kind == "$mem_v2":
                self._add_memory(cell, number)
            else:
                self._add_cell(cell, number)
        for port in netlist.ports:
            self._cut_words(port.bits)
        self._propagate()
        for signal in self._signals:
            for first, end in signal.slices():
                if end - first > WORD:
                    if not signal.divisible:
                        raise BuildError(f"cell {signal.name} is {end - first} bits wide, more than a word of {WORD}")
                    signal.cuts.update(range(first + WORD, end, WORD))
        self._propagate()

    def _add(self, signal: Signal, bits: Bits) -> None:
        self._signals.append(signal)
        for index, bit in enumerate(bits):
            if isinstance(bit, int):
                self._drivers[bit] = (signal, index)

    def _add_cell(self, cell: Cell, number: int) -> None:
        is_register = cell.kind in REGISTERS
        output = cell.pins["Q" if is_register else "Y"]
        width = len(output)
        operands: list[Bits] = []
        if is_register:
            operands = [cell.pins["D"]]
        elif cell.kind in ("$mux", "$pmux"):
            b = cell.pins["B"]
            operands = [cell.pins["A"], *(b[first : first + width] for first in range(0, len(b), width))]
        elif cell.kind in _BITWISE and width > 1:
            names = ("A",) if cell.kind == "$not" else ("A", "B")
            operands = [padded(cell.pins[p], width, signed=bool(cell.numbers[f"{p}_SIGNED"])) for p in names]
        name = f"{'r' if is_register else 'c'}{number}"
        signal = Signal(name=name, width=width, cell=cell, divisible=bool(operands) and width > 1, operands=operands)
        self._add(signal, output)
        if is_register:
            self.registers.append(signal)

    def _add_box(self, box: Box, number: int) -> None:
        """Add the outputs of a box, and keep inputs that go straight to it as it takes them."""
        for name, form in box.primitive.outputs.items():
            if name in box.pins:
                bits = box.pins[name]
                signal = Signal(name=f"b{number}_{name}", width=len(bits), cell=None, divisible=False, form=form)
                self._keep(signal, f"b{number}.{name}")
                self._add(signal, bits)
        for name, expression in box.primitive.derived.items():
            if name in box.pins:
                self._add(
                    Signal(
                        name=f"b{number}_{name}",
                        width=len(box.pins[name]),
                        cell=None,
                        divisible=False,
                        derived=expression.replace("{box}", f"b{number}"),
                        inputs=box.pins,
                    ),
                    box.pins[name],
                )
        for name, form in box.primitive.inputs.items():
            if form in (Form.FLAG, Form.PLACES):
                given = self.whole_input(box.pins[name])
                if given is not None:
                    given.form = form
                    self._keep(given, f"{given.name}_lanes")

    @staticmethod
    def _keep(signal: Signal, member: str) -> None:
        """Set the members in which a signal of a form is kept, and cut it between them."""
        steps: dict[Form | None, int] = {Form.PLACES: 1, Form.WORDS: WORD}
        step = steps.get(signal.form, signal.width)
        places = range(0, signal.width, step)
        signal.cuts = set(places[1:])
        indexed = signal.form in (Form.PLACES, Form.WORDS)
        signal.members = {place: f"{member}[{place // step}]" if indexed else member for place in places}

    def whole_input(self, bits: Bits) -> Signal | None:
        """Return the input whose bits are these, if there is one."""
        runs = self.runs(bits) if all(isinstance(bit, str) or self.drives(bit) for bit in bits) else []
        if len(runs) != 1 or runs[0].signal is None or not runs[0].signal.is_input:
            return None
        return runs[0].signal if runs[0].width == runs[0].signal.width else None

    def _add_memory(self, cell: Cell, number: int) -> None:
        width = cell.numbers["WIDTH"]
        cuts: set[int] = set()
        self.memories.append(cell)
        data, enables = cell.pins["WR_DATA"], cell.pins["WR_EN"]
        # Parts of a word that are written by themselves are memories by themselves.
        cuts.update(place for place in range(1, width) if enables[place] != enables[place - 1])
        for port in range(cell.numbers["RD_PORTS"]):
            signal = Signal(name=f"m{number}p{port}", width=width, cell=cell, divisible=True, cuts=cuts)
            signal.operands = [data] if len(set(data)) > 1 else []
            self._add(signal, cell.pins["RD_DATA"][port * width : (port + 1) * width])
            self.registers.append(signal)

    def drives(self, bit: int | str) -> bool:
        """Return whether a bit is a driven net."""
        return bit in self._drivers

    def _cut_words(self, bits: Bits) -> None:
        """Cut at the word boundaries of a port."""
        for index in range(WORD, len(bits), WORD):
            signal, place = self._drivers.get(bits[index], (None, 0))  # type: ignore[arg-type]
            if signal is not None and signal.form is None and place:
                signal.cuts.add(place)

    def _propagate(self) -> None:
        """Propagate cuts from operands to results, up to a fixpoint."""
        changed = True
        while changed:
            changed = False
            for signal in self._signals:
                if not signal.divisible or signal.form is not None:
                    continue
                before = len(signal.cuts)
                for bits in signal.operands:
                    signal.cuts |= self._cuts_of(bits)
                changed |= len(signal.cuts) != before

    def _cuts_of(self, bits: Bits) -> set[int]:
        """Return the boundaries between slices within an operand."""
        cuts: set[int] = set()
        place = 0
        before: Run | None = None
        runs = self.runs(bits)
        if len(runs) > _MOST_RUNS:
            return cuts
        for run in runs:
            if before is not None and before.signal is not None and run.signal is not None:
                cuts.add(place)
            if run.signal is not None:
                cuts |= {place + cut - run.first for cut in run.signal.cuts if run.first < cut < run.first + run.width}
            place += run.width
            before = run
        return cuts

    def decoded(self, bits: Bits) -> Bits | None:
        """Return the number of which these bits are the one-hot code: bit n is set if it is n."""
        found = {self._compared(bit, value) for value, bit in enumerate(bits)}
        number = found.pop() if len(found) == 1 else None
        return number if number is not None and _FEWEST <= len(bits) == 1 << len(number) else None

    def alike(self, bits: Bits) -> list[Cell] | None:
        """Return the cells of one bit that drive these bits, of one kind and with two operands, if it is so."""
        found = [self._drivers[bit][0] if isinstance(bit, int) and bit in self._drivers else None for bit in bits]
        cells = [
            signal.cell for signal in found if signal is not None and signal.width == 1 and signal.cell is not None
        ]
        kinds = {cell.kind for cell in cells}
        if len(bits) < _FEWEST or len(cells) < len(bits) or len(kinds) > 1 or not kinds <= {"$and", "$or", "$mux"}:
            return None
        return cells

    def _compared(self, bit: int | str, value: int) -> Bits | None:
        """Return the number that a bit compares with a value, if it does."""
        signal, _ = self._drivers.get(bit, (None, 0)) if isinstance(bit, int) else (None, 0)
        cell = signal.cell if signal is not None else None
        if cell is not None and cell.kind == "$logic_not":
            return cell.pins["A"] if value == 0 else None
        if cell is None or cell.kind != "$eq":
            return None
        a, b = cell.pins["A"], cell.pins["B"]
        if not set(b) <= {"0", "1"}:
            a, b = b, a
        same = len(b) <= len(a) and padded(b, len(a)) == tuple(reversed(f"{value:0{len(a)}b}"))
        return a if same else None

    def runs(self, bits: Bits) -> list[Run]:
        """Split bits into runs of successive bits, the lowest first."""
        runs: list[Run] = []
        for bit in bits:
            signal, first = (None, int(bit)) if isinstance(bit, str) else self._drivers[bit]
            last = runs[-1] if runs else None
            if last is None or last.signal is not signal:
                runs.append(Run(signal, first, 1))
            elif signal is None:
                runs[-1] = Run(None, last.first | first << last.width, last.width + 1)
            elif last.first + last.width == first:
                runs[-1] = Run(signal, last.first, last.width + 1)
            else:
                runs.append(Run(signal, first, 1))
        return runs
