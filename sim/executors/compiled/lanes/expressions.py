"""C++ expressions over all lanes at once, for the signals and word-level cells of a netlist."""

import re
from collections.abc import Callable, Collection

from cyscc.sim.errors import BuildError
from cyscc.sim.executors.compiled.lanes.netlist import Bits, Cell
from cyscc.sim.executors.compiled.lanes.primitives import Form
from cyscc.sim.executors.compiled.lanes.slices import REGISTERS, Run, Signal, Signals, padded

_SIGNS = {"$and": "&", "$or": "|", "$xor": "^"}
_COMPARISONS = {"$lt": ("less", False), "$gt": ("less", True), "$ge": ("~less", False), "$le": ("~less", True)}

_PIN = re.compile(r"\{(\w+)\}")
"""An input of a box in an expression."""

_SIZES = {"Byte": 8, "Word": 32, "Long": 64}
"""Bits of an element of each type of vector."""


def vector_type(width: int) -> str:
    """Return the C++ type of a value of all lanes."""
    return "Mask" if width == 1 else "Byte" if width <= 8 else "Word" if width <= 32 else "Long"


def scalar_type(width: int) -> str:
    """Return the C++ type of one lane's value, for more than one bit."""
    return "uint8_t" if width <= 8 else "uint32_t" if width <= 32 else "uint64_t"


def _constant(value: int, kind: str) -> str:
    return f"{kind}({value:#x}{'ull' if kind == 'Long' else 'u'})"


class Expressions:
    """Statements that compute slices of signals, each once, in dependence order.

    Parameters
    ----------
    signals : Signals
        The netlist.
    shared : collection of str
        Inputs that are one number for all lanes.

    Members
    -------
    lines : list of str
        The statements so far.
    """

    def __init__(self, signals: Signals, *, shared: Collection[str] = ()) -> None:
        self._signals = signals
        self._shared = shared
        self._known: dict[tuple[Signal, int], str] = {}
        self._words: set[str] = set()
        self._cells: dict[str, Callable[[Cell, int], str]] = {
            **dict.fromkeys(_SIGNS, self._one_bit),
            "$not": lambda cell, width: f"~{self.mask(cell.pins['A'])}",
            **dict.fromkeys(("$reduce_or", "$reduce_bool"), lambda cell, _: self._any(cell.pins["A"])),
            "$logic_not": lambda cell, _: f"~({self._any(cell.pins['A'])})",
            "$reduce_and": lambda cell, _: self._all(cell.pins["A"]),
            "$logic_and": lambda cell, _: f"({self._any(cell.pins['A'])}) & ({self._any(cell.pins['B'])})",
            "$logic_or": lambda cell, _: f"({self._any(cell.pins['A'])}) | ({self._any(cell.pins['B'])})",
            **dict.fromkeys(("$eq", "$ne"), self._equality),
            **dict.fromkeys(_COMPARISONS, self._comparison),
            **dict.fromkeys(("$add", "$sub"), self._sum),
            "$mul": self._product,
            "$shl": self._shifted,
        }
        self.lines: list[str] = []

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs that the statements so far read."""
        return [signal.name for signal, _ in self._known if signal.is_input]

    def slice_name(self, signal: Signal, first: int) -> str:
        """Return the name of a slice's value; emits the statement that computes it if needed."""
        known = self._known.get((signal, first))
        if known is None:
            end = next(end for start, end in signal.slices() if start == first)
            known = f"v_{signal.name}_{first}"
            self._known[signal, first] = known
            expression = self._slice(signal, first, end)
            self.lines.append(f"const {vector_type(end - first)} {known} = {expression};")
        return known

    def word_name(self, port: Signal, first: int) -> str:
        """Return the name of a word that a memory's port has read, by its first bit; emits its load if needed."""
        name = f"w_{port.name}_{first}"
        if name not in self._words:
            self._words.add(name)
            _, width = port.words[first]
            self.lines.append(f"const {vector_type(max(width, 2))} {name} = load({port.member(first)});")
        return name

    def value(self, bits: Bits) -> str:
        """Return an expression for arbitrary bits, at most a word."""
        if len(bits) == 1:
            return self.mask(bits)
        kind = vector_type(len(bits))
        combined = self._combined(bits)
        if combined is not None:
            return combined
        terms, fixed = [], 0
        flags: dict[str, int] = {}  # bits stored as masks, with all their positions
        for piece, place in self.pieces(bits):
            if piece.signal is None:
                fixed |= piece.first << place
                continue
            name, _, width = self._home(piece)
            if width == 1:
                flags[name] = flags.get(name, 0) | 1 << place
            else:
                terms.append(self._placed(piece, place, kind))
        terms += [f"from_mask({name}, {_constant(places, kind)})" for name, places in flags.items()]
        if fixed or not terms:
            terms.append(_constant(fixed, kind))
        return terms[0] if len(terms) == 1 else f"({' | '.join(terms)})"

    def _combined(self, bits: Bits) -> str | None:
        """Return an expression for bits that cells of one bit compute alike, as for each value of a number."""
        kind = vector_type(len(bits))
        number = self._signals.decoded(bits)
        if number is not None:
            return f"as<{kind}>(shl(Word(0x1u), {self.value(padded(number, _SIZES['Word']))}))"
        cells = self._signals.alike(bits)
        if cells is None:
            return None
        operands = [self._row(tuple(cell.pins[pin][0] for cell in cells)) for pin in "AB"]
        if None in operands:
            return None
        if cells[0].kind == "$mux":
            selects = {cell.pins["S"] for cell in cells}
            return f"select({self.mask(selects.pop())}, {operands[1]}, {operands[0]})" if len(selects) == 1 else None
        return f"({operands[0]} {_SIGNS[cells[0].kind]} {operands[1]})"

    def _row(self, bits: Bits) -> str | None:
        """Return an expression for bits that need not be packed one by one."""
        kind = vector_type(len(bits))
        if len(set(bits)) == 1 and isinstance(bits[0], int):
            return f"from_mask({self.mask(bits[:1])}, {_constant((1 << len(bits)) - 1, kind)})"
        combined = self._combined(bits)
        return self.value(bits) if combined is None and len(self.pieces(bits)) == 1 else combined

    def mask(self, bits: Bits) -> str:
        """Return an expression for one bit, as a mask of lanes."""
        ((piece, _),) = self.pieces(bits)
        return self._bit(piece)

    def pieces(self, bits: Bits) -> list[tuple[Run, int]]:
        """Split bits into runs of constants, or of bits within one slice, with their positions."""
        pieces = []
        place = 0
        for run in self._signals.runs(bits):
            if run.signal is None:
                pieces.append((run, place))
            else:
                for start, end in run.signal.slices():
                    first, last = max(start, run.first), min(end, run.first + run.width)
                    if first < last:
                        pieces.append((Run(run.signal, first, last - first), place + first - run.first))
            place += run.width
        return pieces

    def _home(self, piece: Run) -> tuple[str, int, int]:
        """Return name, first bit and width of the slice that contains a piece."""
        assert piece.signal is not None
        start, width = piece.home()
        return self.slice_name(piece.signal, start), start, width

    def _bit(self, piece: Run) -> str:
        if piece.signal is None:
            return "~Mask{}" if piece.first else "Mask{}"
        name, start, width = self._home(piece)
        if width == 1:
            return name
        return f"test({name}, {_constant(1 << (piece.first - start), vector_type(width))})"

    def _placed(self, piece: Run, place: int, kind: str) -> str:
        """Return a piece of a vector shifted to its position in a word, with zeros elsewhere."""
        name, start, width = self._home(piece)
        return self._part(name, width, piece.first - start, piece.width, place, kind)

    @staticmethod
    def _part(name: str, width: int, down: int, bits: int, place: int, kind: str) -> str:
        """Return some bits of a value of some width, from one up, at a position in a word."""
        has = vector_type(width)
        field = (1 << bits) - 1
        above = down + bits < width
        if has == kind and down == place:
            return f"({name} & {_constant(field << place, kind)})" if above or down else name
        part = f"shr<{down}>({name})" if down else name
        cut = _SIZES[kind] < _SIZES[has]
        if cut:
            part = f"as<{kind}>({part})"
        if above and not (cut and bits == _SIZES[kind]):
            part = f"({part} & {_constant(field, kind if cut else has)})"
        if not cut and has != kind:
            part = f"as<{kind}>({part})"
        return f"shl<{place}>({part})" if place else part

    def _slice(self, signal: Signal, first: int, end: int) -> str:
        cell = signal.cell
        width = end - first
        if signal.form is not None:
            return self._kept(signal, first, width)
        if signal.derived is not None:
            return _PIN.sub(lambda pin: f"({self.mask(signal.inputs[pin[1]])})", signal.derived)
        if signal.words:
            return self._read(signal, first, width)
        if cell is None or cell.kind in REGISTERS:
            if cell is None and signal.name in self._shared:
                kind = vector_type(max(width, 2))
                number = f"{kind}({signal.member(first)})"
                return f"test({number}, {kind}(1))" if width == 1 else number
            return f"load({signal.member(first)})"
        if cell.kind in ("$mux", "$pmux"):
            return self._choice(signal, first, end)
        if signal.divisible:
            parts = [self.value(bits[first:end]) for bits in signal.operands]
            if cell.kind == "$not":
                return (
                    f"~({parts[0]})"
                    if width == 1
                    else f"({parts[0]} ^ {_constant((1 << width) - 1, vector_type(width))})"
                )
            return f" {_SIGNS[cell.kind]} ".join(parts)
        build = self._cells.get(cell.kind)
        if build is None:
            raise BuildError(f"cell {cell.name} is of the kind {cell.kind}, which the lanes cannot compute")
        return build(cell, width)

    def _read(self, port: Signal, first: int, width: int) -> str:
        """Return a slice of what a memory's port has read."""
        start, all_bits = port.words[first]
        name = self.word_name(port, start)
        if width == 1:
            return f"test({name}, {_constant(1 << (first - start), vector_type(max(all_bits, 2)))})"
        return self._part(name, all_bits, first - start, width, 0, vector_type(width))

    def _kept(self, signal: Signal, first: int, width: int) -> str:
        """Return what a box has, or takes, as it has it."""
        member = signal.member(first)
        if signal.form in (Form.FLAG, Form.PLACES):
            return f"Mask::of({member})"
        kind = "Word" if signal.form is Form.NUMBER else vector_type(max(signal.width, _SIZES["Byte"] + 1))
        if width == 1:
            return f"test(load({member}), {_constant(1, kind)})"
        wanted = vector_type(width)
        return f"load({member})" if wanted == kind else f"as<{wanted}>(load({member}))"

    def _choice(self, signal: Signal, first: int, end: int) -> str:
        assert signal.cell is not None
        selects = signal.cell.pins["S"]
        result = self.value(signal.operands[0][first:end])
        for select, operand in zip(selects, signal.operands[1:], strict=True):
            result = f"select({self.mask((select,))}, {self.value(operand[first:end])}, {result})"
        return result

    def _one_bit(self, cell: Cell, width: int) -> str:
        return f"{self.mask(cell.pins['A'])} {_SIGNS[cell.kind]} {self.mask(cell.pins['B'])}"

    def _any(self, bits: Bits) -> str:
        """Return a mask of the lanes in which any of some bits is set."""
        if "1" in bits:
            return "~Mask{}"
        combined = self._combined(bits) or self._combined(bits[::-1])
        if combined is not None:
            return f"test({combined}, {_constant((1 << len(bits)) - 1, vector_type(len(bits)))})"
        # Flags of boxes are numbers, which are joined faster than masks.
        runs = [run for run, _ in self.pieces(bits)]
        flags = [run for run in runs if run.signal is not None and run.signal.form in (Form.FLAG, Form.PLACES)]
        others = tuple(bit for bit, (run, _) in ((bit, self.pieces((bit,))[0]) for bit in bits) if run not in flags)
        joined = (
            [f"Mask::of({' | '.join(run.signal.member(run.first) for run in flags if run.signal)})"] if flags else []
        )
        return " | ".join([*joined, *self._tests(others, "test({0}, {1})")]) or "Mask{}"

    def _all(self, bits: Bits) -> str:
        """Return a mask of the lanes in which all of some bits are set."""
        if "0" in bits:
            return "Mask{}"
        return " & ".join(self._tests(bits, "equal({0} & {1}, {1})")) or "~Mask{}"

    def _tests(self, bits: Bits, test: str) -> list[str]:
        """Return tests of the slices that contain some bits; `test` formats a test of a name against a bit mask."""
        tests = []
        for piece, _ in self.pieces(bits):
            if piece.signal is not None:
                name, start, width = self._home(piece)
                field = ((1 << piece.width) - 1) << (piece.first - start)
                tests.append(name if width == 1 else test.format(name, _constant(field, vector_type(width))))
        return tests

    def _equality(self, cell: Cell, width: int) -> str:
        a, b = self._extended(cell, max(len(cell.pins["A"]), len(cell.pins["B"])))
        pairs = list(zip(a, b, strict=True))
        if len(pairs) == 1 or all(self._is_flag(x) or self._is_flag(y) for x, y in pairs):
            same = f"({' & '.join(f'~({self.mask((x,))} ^ {self.mask((y,))})' for x, y in pairs)})"
        else:
            same = f"equal({self.value(a)}, {self.value(b)})"
        return same if cell.kind == "$eq" else f"~{same}"

    def _is_flag(self, bit: int | str) -> bool:
        """Return whether a bit is stored as a mask."""
        ((piece, _),) = self.pieces((bit,))
        return piece.signal is not None and piece.home()[1] == 1

    def _comparison(self, cell: Cell, width: int) -> str:
        if cell.numbers["A_SIGNED"] and cell.numbers["B_SIGNED"]:
            raise BuildError(f"cell {cell.name} compares signed numbers, which the lanes cannot do")
        function, swapped = _COMPARISONS[cell.kind]
        a, b = (self.value(bits) for bits in self._extended(cell, max(2, len(cell.pins["A"]), len(cell.pins["B"]))))
        return f"{function}({b}, {a})" if swapped else f"{function}({a}, {b})"

    def _sum(self, cell: Cell, width: int) -> str:
        a, b = self._extended(cell, max(width, 2))
        kind = vector_type(max(width, 2))
        result = f"{self.value(a)} {'+' if cell.kind == '$add' else '-'} {self.value(b)}"
        if width == 1:
            return f"test({result}, {_constant(1, kind)})"
        return result if width in _SIZES.values() else f"({result}) & {_constant((1 << width) - 1, kind)}"

    def _product(self, cell: Cell, width: int) -> str:
        """Return a product with a constant, as the sum of the other factor's shifts."""
        factors = self._extended(cell, max(width, 2))
        other, constant = factors if set(factors[1]) <= {"0", "1"} else factors[::-1]
        if not set(constant) <= {"0", "1"}:
            raise BuildError(f"cell {cell.name} multiplies two variables, which the lanes cannot do")
        kind = vector_type(len(other))
        value = self.value(other)
        shifts = [f"shl<{place}>({value})" if place else value for place, bit in enumerate(constant) if bit == "1"]
        result = f"({' + '.join(shifts) or _constant(0, kind)}) & {_constant((1 << width) - 1, kind)}"
        return f"test({result}, {_constant(1, kind)})" if width == 1 else result

    def _shifted(self, cell: Cell, width: int) -> str:
        """Return a number shifted up by another one, which is less than its width."""
        kind = "Long" if width > _SIZES["Word"] else "Word"
        least = _SIZES["Byte"] + 1  # processors cannot shift bytes
        value = self.value(padded(cell.pins["A"], max(width, least)))
        by = self.value(padded(cell.pins["B"], _SIZES[kind]))
        result = f"shl({value}, {by})"
        return result if width in _SIZES.values() else f"({result}) & {_constant((1 << width) - 1, kind)}"

    def _extended(self, cell: Cell, width: int) -> list[Bits]:
        """Return both operands of a cell, extended to a width."""
        signed = bool(cell.numbers["A_SIGNED"] and cell.numbers["B_SIGNED"])
        return [padded(cell.pins[pin], width, signed=signed) for pin in "AB"]
