"""C++ source of a class that simulates all instances of a module together."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from cyscc.sim.errors import BuildError
from cyscc.sim.executors.compiled.lanes.expressions import Expressions, scalar_type, vector_type
from cyscc.sim.executors.compiled.lanes.netlist import Bits, Box, Cell, Description, Netlist, Port, read_netlist
from cyscc.sim.executors.compiled.lanes.primitives import WORD, Form
from cyscc.sim.executors.compiled.lanes.schedule import NAME, scheduled
from cyscc.sim.executors.compiled.lanes.slices import Run, Signal, Signals, padded
from cyscc.sim.observation.waves.signals import value_names

_ONES = re.compile("1{1,64}")

_ORDER = ("uint64_t", "uint32_t", "Bits", "uint8_t", "Mask")
"""Types of members in the order in which they are laid out, so that each is aligned."""


def lanes_source(
    description: Description,
    *,
    name: str,
    lanes: int,
    shared: Sequence[str] = (),
    fields: Mapping[str, int] = MappingProxyType({}),
    fifos: bool = False,
    shown: str | None = None,
) -> str:
    """Return a C++ header that defines a class of all instances of a component.

    A one-bit signal is a mask with one bit per instance. A wider signal is an array with one element per instance, or a
    vector register within a cycle. So one or two instructions perform a hardware operation for all instances.
    `native/lanes.h` defines the operations.

    For each one-bit port, the class has a function of the port's name that takes or returns a mask. For each 64-bit
    word ``w`` of a wider port, it has ``put_<port>_<w>(lane, value)`` and ``put_<port>_<w>(values)`` (inputs; for one
    that is the same for all instances ``put_<port>_<w>(value)``), or ``get_<port>_<w>(lane)`` and
    ``get_<port>_<w>(values)`` (outputs). An output that is no register has the last one, which computes it. A one-bit
    port has those of values, too. An output of small numbers (`fields`) has ``get_<port>(numbers)`` instead, which
    computes them all. A port whose bits a component executed by hand takes or has one by one (see
    `Form.PLACES`) is an array ``<port>()`` of a mask for each bit; the words of ports that are the queues' entries of
    such a component are arrays ``<port>_<w>()`` too, where the port has no number. ``tick()`` advances all instances by
    a cycle; outputs are then those of the next cycle. All state except memories is in the bytes from
    ``first_register`` to ``end_of_registers()``. ``wrote()`` is the mask of instances whose memories the last cycle has
    written, or may have. ``resume()`` follows on a change of the state from outside. ``list(inventory, lane)`` adds the
    registers and memories of an instance by name.

    For waveforms, ``show()`` computes the signals of the cycle, before ``tick()``. ``list_seen(inventory, lane)`` adds
    those of an instance, by numbers, and ``kSeen`` is a JSON text that has for each variable its path, width, value
    names, what it is in the inventory, and its first bit there.

    Parameters
    ----------
    description : Description
        The module. Its outputs must be functions of registers only.
    name : str
        Name of the class.
    lanes : int
        Instances, 1 to 16.
    shared : sequence of str
        Inputs that are the same for all instances, which those of one bit may be besides.
    fields : mapping of str to int
        Outputs that are numbers of so many bits each, at most 32, side by side if there are several.
    fifos : bool
        Whether FIFOs are executed by hand too: faster if few of them move, but then `wrote()` is never 0.
    shown : str, optional
        Kind of the instances, as in their names, if waveforms show them.

    Raises
    ------
    BuildError
        Yosys failed, or the module has an unsupported cell; with its name.
    """
    netlist = read_netlist(description, fifos=fifos, waves=shown is not None)
    return _Source(netlist, name=name, lanes=lanes, shared=shared, fields=fields, shown=shown).text()


def single_source(description: Description, *, name: str, shown: str | None = None) -> str:
    """Return a C++ header that defines a class of a single instance of a component, with its ports as data members.

    A port of more than 64 bits, at most 128, is an array of 32-bit words. ``tick()`` advances the instance by a cycle:
    it reads the inputs, and sets the outputs to those of the next cycle; ``take()`` only reads the inputs. ``resume()``
    follows on a change of the state from outside. ``list(inventory)`` adds registers and memories by name. The object
    of a component executed by hand is returned by a function of the component's name. Outputs that it derives (see
    `Primitive`) are read there, and are no data members.

    Parameters
    ----------
    description : Description
        The module. Its outputs must be functions of registers only.
    name : str
        Name of the class.
    shown : str, optional
        See `lanes_source`: its member ``lane`` is such an object.

    Raises
    ------
    BuildError
        See `lanes_source`.
    """
    netlist = read_netlist(description, waves=shown is not None)
    lane = f"{name}Lane"
    pins: list[str] = []
    inputs: list[str] = []
    outputs: list[str] = []
    source = _Source(netlist, name=lane, lanes=1, single=True, shown=shown)
    for port in netlist.ports:
        if source.derives(port):
            continue
        words = -(-len(port.bits) // WORD)
        size = f"[{-(-len(port.bits) // 32)}]" if words > 1 else ""
        pins.append(f"{'uint64_t' if words == 1 else 'uint32_t'} {port.name}{size} = {{}};")
        if len(port.bits) == 1:
            line = f"lane.{port.name}(Bits({port.name}));" if port.is_input else f"{port.name} = lane.{port.name}();"
            (inputs if port.is_input else outputs).append(line)
        elif port.is_input:
            inputs += [f"lane.put_{port.name}_{word}(0, get({port.name}, {word}));" for word in range(words)]
        else:
            outputs += [f"lane.get_{port.name}_{word}({('low', 'high')[word]});" for word in range(words)]
            outputs.append(f"set({port.name}, {', '.join(('low[0]', 'high[0]')[:words])});")
    parts = [
        source.text(),
        '#include "pins.h"',
        "namespace cyscc {",
        f"struct {name} {{",
        *pins,
        f"{lane} lane;",
        f"{name}() {{ put_out(); }}",
        *(
            f"{constant}auto& {box.name}() {constant}{{ return lane.b{number}; }}"
            for number, box in enumerate(netlist.boxes)
            for constant in ("", "const ")
        ),
        "void resume() {",
        "lane.resume();",
        "put_out();",
        "}",
        "void take() {",
        *inputs,
        "}",
        "void tick() {",
        "take();",
        "lane.tick();",
        "put_out();",
        "}",
        "void put_out() {",
        "[[maybe_unused]] uint64_t low[1], high[1];",
        *outputs,
        "}",
        "template <class Inventory>",
        "void list(Inventory& inventory) { lane.list(inventory, 0); }",
        "};",
        "}  // namespace cyscc",
    ]
    return "\n".join(parts) + "\n"


@dataclass
class _Bank:
    """The words of memories that have one type.

    In each cycle one loop moves the words that lanes read from any of them, and another those that they write. A loop
    for each memory would have few iterations, of a number that no processor predicts.

    Parameters
    ----------
    kind : str
        Type of a word.
    count : int
        Words.
    address_bits : int
        Bits of an address.
    """

    kind: str
    count: int = 0
    address_bits: int = 0

    @property
    def words(self) -> str:
        """Name of the array of all words."""
        return f"words_{self.kind}"

    @property
    def reads(self) -> str:
        """Name of the array of the words read last."""
        return f"read_{self.kind}"


_PACKED = 32
"""Most bits of several slices of a memory in one word; of a wider word it is slower to take a slice."""


def _words(port: Signal) -> list[tuple[int, int]]:
    """Return the first bit and width of each word in which a memory's word is kept, from one of its ports."""
    return sorted(set(port.words.values()))


def _rank(member: str) -> int:
    return _ORDER.index(member.split()[0])


class _Source:
    """Collects the parts of the class, whose vectors are plain numbers if it is of a single instance."""

    def __init__(
        self,
        netlist: Netlist,
        *,
        name: str,
        lanes: int,
        single: bool = False,
        shared: Sequence[str] = (),
        fields: Mapping[str, int] = MappingProxyType({}),
        shown: str | None = None,
    ) -> None:
        self._netlist = netlist
        self._name = name
        self._lanes = lanes
        self._shown = shown
        self._header = "scalar.h" if single else "lanes.h"
        self._signals = Signals(netlist)
        wide = {port.name for port in netlist.ports if len(port.bits) > 1}
        self._shared = wide.intersection(shared)
        self._fields = fields
        self._expressions = Expressions(self._signals, shared=self._shared)
        self._inputs: list[str] = []
        self._registers: list[str] = []
        self._memories: list[str] = []
        self._guarded: dict[str, list[str]] = {}
        self._banks: dict[str, _Bank] = {}
        self._moves: list[str] = []
        self._entries: dict[str, str] = {}

    def text(self) -> str:
        """Return the header."""
        for number, box in enumerate(self._netlist.boxes):
            self._gather_entries(box, number)
        for port in self._netlist.ports:
            if port.is_input:
                self._declare_input(port)
        registers = []
        for cell in self._signals.memories:
            self._place_memory(cell)
        for signal in self._signals.registers:
            assert signal.cell is not None
            if signal.cell.kind != "$mem_v2":
                registers.append((signal, signal.cell, self._guard(signal.cell)))
        for bank in self._banks.values():
            self._add_bank(bank)
        for signal, cell, guard in registers:
            if not guard:
                self._add_register(signal, cell, self._expressions.lines)
        boxes = [self._box_tick(box, number) for number, box in enumerate(self._netlist.boxes)]
        common = len(self._expressions.lines)
        for signal, cell, guard in registers:
            if guard:
                self._add_register(signal, cell, self._guarded.setdefault(guard, []))
        tick = self._tick(common)
        listing = list(self._listing())
        accessors = [line for port in self._netlist.ports for line in self._accessors(port)]
        seen = [] if self._shown is None else self._seen(self._shown)
        parts = [
            "#pragma once",
            f'#include "{self._header}"',
            *sorted({f'#include "{box.primitive.header}"' for box in self._netlist.boxes}),
            "namespace cyscc {",
            f"struct {self._name} {{",
            f"static constexpr int kLanes = {self._lanes};",
            f"static constexpr Bits kAll = {(1 << self._lanes) - 1:#x}u;",
            "using Byte = Bytes<kLanes>;",
            "using Word = Words<kLanes>;",
            "using Long = Longs<kLanes>;",
            *sorted(self._inputs, key=_rank),
            # The registers lie between these two members.
            "alignas(64) char first_register[64] = {};",
            *sorted(self._registers, key=_rank),
            "Mask written;",
            *self._memories,
            *(f"{box.primitive.kind} b{number};" for number, box in enumerate(self._netlist.boxes)),
            *accessors,
            "const char* end_of_registers() const { return reinterpret_cast<const char*>(&written); }",
            f"Bits wrote() const {{ return {'kAll' if boxes else 'among<kLanes>(written)'}; }}",
            f"void resume() {{ {' '.join(f'b{number}.resume();' for number in range(len(boxes)))} }}",
            "template <class Inventory>",
            "void list(Inventory& inventory, int lane) {",
            *listing,
            *self._box_listing(),
            "}",
            "void tick() {",
            "written = {};",
            *tick,
            *boxes,
            "}",
            *seen,
            "};",
            "}  // namespace cyscc",
        ]
        return "\n".join(parts) + "\n"

    def _seen(self, kind: str) -> list[str]:
        """Return the members that waveforms need, of instances of some kind."""
        values = Expressions(self._signals, shared=self._shared)
        members: dict[str, str] = {}
        numbers: dict[Bits, str] = {}
        listing: list[str] = []
        table: list[tuple[Any, ...]] = []
        for seen in self._netlist.seen:
            source, first = seen.register, seen.shown.first
            if not source:
                if seen.bits not in numbers:
                    numbers[seen.bits] = str(len(numbers))
                    listing += self._list_value(numbers[seen.bits], seen.bits, values, members)
                source, first = numbers[seen.bits], 0
            table.append((seen.shown.path, seen.shown.width, value_names(seen.shown, kind), source, first))
        return [
            *members.values(),
            "static inline uint64_t ones = ~uint64_t(0);",
            f'static constexpr const char* kSeen = R"({json.dumps(table)})";',
            "template <class Inventory>",
            "void list_seen(Inventory& inventory, int lane) {",
            *listing,
            *self._box_listing(),
            "}",
            "void show() {",
            *values.lines,
            "}",
        ]

    def _list_value(self, name: str, bits: Bits, values: Expressions, members: dict[str, str]) -> Iterator[str]:
        """Yield statements that list some bits of a lane under a name.

        What is neither a register nor an input gets a member, which the statements of `values` set.
        """
        for piece, place in values.pieces(bits):
            signal = piece.signal
            if signal is None:
                for ones in _ONES.finditer(f"{piece.first:b}"[::-1]):
                    yield f'inventory.add("{name}", {place + ones.start()}, {len(ones[0])}, &ones, sizeof ones, 0);'
                continue
            if signal.derived is None and (signal.cell is None or signal in self._signals.registers):
                yield self._list_piece(name, piece, place, *self._member(piece))
                continue
            start, width = piece.home()
            member = f"s_{signal.name}_{start}"
            if member not in members:
                value = values.slice_name(signal, start)
                kind = "Mask" if width == 1 else scalar_type(width)
                members[member] = f"{kind} {member}{'' if width == 1 else '[kLanes] = {}'};"
                values.lines.append(f"{member} = {value};" if width == 1 else f"store({member}, {value});")
            yield self._list_piece(name, piece, place, member, start, width)

    def _list_piece(self, name: str, piece: Run, place: int, member: str, start: int, width: int) -> str:
        """Return the statement that lists a piece of a lane under a name, from the member that holds it."""
        signal = piece.signal
        assert signal is not None
        if signal.form in (Form.FLAG, Form.PLACES):
            return f'inventory.add("{name}", {place}, 1, &{member}, sizeof {member}, lane);'
        if width == 1 and signal.form is None and not self._is_word(piece):
            return f'{member}.list(inventory, "{name}", {place}, lane);'
        element = member if signal.is_input and signal.name in self._shared else f"{member}[lane]"
        return f'inventory.add("{name}", {place}, {piece.width}, &{element}, sizeof {element}, {piece.first - start});'

    def _box_listing(self) -> Iterator[str]:
        """Yield statements that list the registers and memories of boxes."""
        for number, box in enumerate(self._netlist.boxes):
            yield f'b{number}.list(inventory, "{box.name and f"{box.name}."}", lane);'

    def derives(self, port: Port) -> bool:
        """Return whether an output is one that a box derives."""
        return all(run.signal is not None and run.signal.derived is not None for run in self._signals.runs(port.bits))

    def _guard(self, cell: Cell) -> str | None:
        """Return the name of an input of one bit without which a register keeps its value, if there is one."""
        if cell.kind != "$dffe" or not cell.numbers["EN_POLARITY"]:
            return None
        conjunction = [cell.pins["EN"]]
        while conjunction:
            bits = conjunction.pop()
            ((piece, _),) = self._expressions.pieces(bits)
            if piece.signal is None or piece.signal.width > 1:
                continue
            operator = piece.signal.cell
            if operator is None:
                return self._expressions.mask(bits)
            if operator.kind in ("$and", "$logic_and"):
                conjunction += [operator.pins[pin] for pin in "AB" if len(operator.pins[pin]) == 1]
            elif operator.kind == "$reduce_and":
                conjunction += [(bit,) for bit in operator.pins["A"]]
        return None

    def _tick(self, common: int) -> list[str]:
        """Return the statements of a cycle.

        What only registers with the same guard need, which are all statements but the first `common` ones, is left out
        if no lane has that input. A chain through all kernels is rarely used, for example.
        """
        lines = self._expressions.lines
        needed = {guard: set(NAME.findall(" ".join(updates))) for guard, updates in self._guarded.items()}
        blocks: dict[str, list[str]] = {guard: [] for guard in needed}
        shared: set[str] = set()
        always = []
        for line in reversed(lines[common:]):
            words = NAME.findall(line)
            users = [guard for guard in needed if words[0] in needed[guard]]
            # What a member holds is read before any block changes it.
            if words[0] in shared or len(users) > 1 or len(words) == 1:
                always.append(line)
                shared.update(words)
            else:
                blocks[users[0]].append(line)
                needed[users[0]].update(words)
        # No processor predicts how often the loops iterate. It loses less time if it has computed that long before.
        statements = scheduled(lines[:common] + always[::-1]) + self._moves
        for guard, block in blocks.items():
            statements += [f"if (among<kLanes>({guard})) {{", *block[::-1], *self._guarded[guard], "}"]
        return statements

    def _declare(self, members: list[str], signal: Signal, initial: dict[int, int]) -> None:
        """Declare the members that hold a register or an input."""
        for first, end in signal.slices():
            width = end - first
            value = sum(initial.get(index, 0) << (index - first) for index in range(first, end))
            member = f"{signal.name}_{first}"
            if width == 1:
                members.append(f"Mask {member}{' = ~Mask{}' if value else ''};")
            else:
                kind = scalar_type(width)
                fill = ", ".join([f"{value:#x}"] * self._lanes)
                members.append(f"{kind} {member}[kLanes] = {{{fill}}};")

    def _gather_entries(self, box: Box, number: int) -> None:
        """Declare arrays for the inputs that are entries of a box's queues, and keep the inputs there."""
        for name, form in box.primitive.inputs.items():
            if form is not Form.SHARED:
                continue
            pins = [bits for pin, bits in box.pins.items() if pin.removeprefix(name).isdigit()]
            member = f"b{number}_{name}"
            words = -(-len(pins[0]) // WORD)
            self._inputs.append(f"uint64_t {member}[{words}][{len(pins)}] = {{}};")
            for place, bits in enumerate(pins):
                signal = self._signals.whole_input(bits)
                if signal is None or signal.name not in self._shared:
                    raise BuildError(f"the queues' {name}{place} is not an input that is the same for all lanes")
                signal.members = {first: f"{member}[{first // WORD}][{place}]" for first, _ in signal.slices()}
                if place == 0:
                    self._entries[signal.name] = member

    def _box_tick(self, box: Box, number: int) -> str:
        """Return the statement that advances a box by a cycle, once what it takes has been computed."""
        build = self._expressions
        given = []
        for name, form in box.primitive.inputs.items():
            if form is Form.SHARED:
                given.append(f"b{number}_{name}")
                continue
            bits = box.pins[name]
            if form is Form.NUMBER:
                given.append(f"{self._array([padded(bits, 32)])}[0]")
            elif form is Form.WORDS:
                width = 32 if len(bits) <= 32 else WORD
                words = [padded(bits[first : first + WORD], width) for first in range(0, len(bits), WORD)]
                given.append(self._array(words))
            elif self._signals.whole_input(bits) is not None:
                given.append(f"{self._signals.whole_input(bits).name}_lanes")  # type: ignore[union-attr]
            else:
                name = f"a_{len(build.lines)}"
                flags = [f"among<kLanes>({build.mask((bit,))})" for bit in bits]
                value = (
                    f"{name}[{len(bits)}] = {{{', '.join(flags)}}}" if form is Form.PLACES else f"{name} = {flags[0]}"
                )
                build.lines.append(f"const Bits {value};")
                given.append(name)
        return f"b{number}.tick({', '.join(given)});"

    def _declare_input(self, port: Port) -> None:
        (signal,) = {run.signal for run in self._signals.runs(port.bits)}
        assert signal is not None
        if signal.form is not None:
            size = f"[{signal.width}]" if signal.form is Form.PLACES else ""
            self._inputs.append(f"Bits {port.name}_lanes{size} = {{}};")
        elif signal.members:
            return
        elif port.name in self._shared:
            for first, end in signal.slices():
                self._inputs.append(f"{scalar_type(end - first)} {signal.member(first)} = 0;")
        else:
            self._declare(self._inputs, signal, {})

    def _add_register(self, signal: Signal, cell: Cell, updates: list[str]) -> None:
        """Declare a register, and update it as soon as its next value is known: its old one has been loaded then."""
        nets = cell.pins["Q"]
        numbers = {i: self._netlist.initial.get(net, 0) for i, net in enumerate(nets) if isinstance(net, int)}
        self._declare(self._registers, signal, numbers)
        build = self._expressions
        enable = self._condition(cell, "EN")
        reset = self._condition(cell, "SRST")
        reset_value = cell.numbers.get("SRST_VALUE", 0)
        if reset is not None and cell.kind == "$sdffce":
            assert enable is not None
            reset = f"({reset} & {enable})"
        for first, end in signal.slices():
            width = end - first
            member = f"{signal.name}_{first}"
            value = build.value(cell.pins["D"][first:end])
            old = build.slice_name(signal, first)
            constant = reset_value >> first & ((1 << width) - 1)
            if width == 1:
                following = f"(({value}) & {enable}) | ({old} & ~{enable})" if enable else value
                if reset:
                    following = f"({following}) | {reset}" if constant else f"({following}) & ~{reset}"
                build.lines.append(f"const Mask n_{member} = {following};")
                updates.append(f"{member} = n_{member};")
                continue
            kind = vector_type(width)
            if reset:
                value = f"select({reset}, {kind}({constant:#x}), {value})"
            build.lines.append(f"const {kind} n_{member} = {value};")
            if enable:
                taken = f"({enable} | {reset})" if reset and cell.kind == "$sdffe" else enable
                updates.append(f"update({member}, {taken}, n_{member}, {old});")
            else:
                updates.append(f"store({member}, n_{member});")

    def _condition(self, cell: Cell, pin: str) -> str | None:
        """Return the name of an enable or a synchronous reset as a mask, if the cell has it."""
        if pin not in cell.pins:
            return None
        bit = self._expressions.mask(cell.pins[pin])
        name = f"x_{len(self._expressions.lines)}"
        sign = "" if cell.numbers[f"{pin}_POLARITY"] else "~"
        self._expressions.lines.append(f"const Mask {name} = {sign}({bit});")
        return name

    def _place_memory(self, cell: Cell) -> None:
        """Place the slices of a memory in banks.

        It has a port that writes words or parts of them, and clocked ones that read contents before this cycle's
        writes.
        """
        plain = ("RD_ARST", "RD_SRST", "RD_TRANSPARENCY_MASK")
        usual = all(set(cell.pins.get(pin, ())) <= {"0"} and not cell.numbers.get(pin, 0) for pin in plain)
        ports = self._ports(cell)
        clocked = ports and cell.numbers["RD_CLK_ENABLE"] == (1 << len(ports)) - 1
        if not usual or not clocked or cell.numbers["WR_PORTS"] != 1 or cell.numbers["OFFSET"] or cell.numbers["INIT"]:
            raise BuildError(f"memory {cell.name} is of a form that the lanes do not cover")
        for slices in self._packed(cell):
            first, end = slices[0][0], slices[-1][1]
            kind = scalar_type(end - first)
            bank = self._banks.setdefault(kind, _Bank(kind))
            self._registers += [f"{kind} {port.name}_{first}[kLanes] = {{}};" for port in ports[1:]]
            for port in ports:
                member = f"{bank.reads}[{bank.count}]" if port is ports[0] else f"{port.name}_{first}"
                port.members.update((start, member) for start, _ in slices)
                port.words.update((start, (first, end - first)) for start, _ in slices)
            bank.count += 1
            bank.address_bits = max(bank.address_bits, cell.numbers["ABITS"])

    def _packed(self, cell: Cell) -> list[list[tuple[int, int]]]:
        """Return the slices of a memory by the words that keep them: moving one costs more than taking it apart."""
        enables = cell.pins["WR_EN"]
        words: list[list[tuple[int, int]]] = []
        for first, end in self._ports(cell)[0].slices():
            start = words[-1][0][0] if words else 0
            if words and end - start <= _PACKED and enables[first] == enables[start]:
                words[-1].append((first, end))
            else:
                words.append([(first, end)])
        return words

    def _ports(self, cell: Cell) -> list[Signal]:
        """Return the read ports of a memory."""
        return [signal for signal in self._signals.registers if signal.cell is cell]

    def _add_bank(self, bank: _Bank) -> None:
        """Declare a bank, and move words from and to it in every cycle."""
        # As many words as addresses: a loaded state may have any.
        size = f"[{bank.count}][kLanes]"
        self._registers.append(f"{bank.kind} {bank.reads}{size} = {{}};")
        self._memories.append(f"{bank.kind} {bank.words}{size}[{1 << bank.address_bits}] = {{}};")
        width = max(2, bank.address_bits)
        reading: list[str] = []
        writing: list[str] = []
        read: list[Bits] = []
        written: list[Bits] = []
        words: list[Bits] = []
        for cell in self._signals.memories:
            bits = cell.numbers["ABITS"]
            first_port, *further = self._ports(cell)
            for first, bits_of_word in _words(first_port):
                if scalar_type(bits_of_word) != bank.kind:
                    continue
                self._expressions.word_name(first_port, first)
                for number, port in enumerate(further, start=1):
                    self._expressions.word_name(port, first)
                    mask = self._expressions.mask(cell.pins["RD_EN"][number : number + 1])
                    places = self._array([padded(cell.pins["RD_ADDR"][number * bits : (number + 1) * bits], width)])
                    word = f"{bank.words}[{len(reading)}][n][{places}[0][n]]"
                    self._move([mask], f"{port.member(first)}[n] = {word};")
                reading.append(self._expressions.mask(cell.pins["RD_EN"][:1]))
                read.append(padded(cell.pins["RD_ADDR"][:bits], width))
                writing.append(self._expressions.mask(cell.pins["WR_EN"][first : first + 1]))
                written.append(padded(cell.pins["WR_ADDR"], width))
                words.append(cell.pins["WR_DATA"][first : first + bits_of_word])
                self._expressions.lines.append(f"written = written | {writing[-1]};")
        word = f"(&{bank.words}[0][0][0])[n << {bank.address_bits} | (&{{}}[0][0])[n]]"
        self._move(reading, f"(&{bank.reads}[0][0])[n] = {word.format(self._array(read))};")
        to = word.format(self._array(written))
        members = [self._shared_member(bits) for bits in words]
        if all(members):
            name = f"a_{len(self._expressions.lines)}"
            given = f"const {bank.kind} {name}[{len(members)}] = {{{', '.join(filter(None, members))}}};"
            self._expressions.lines.append(given)
            self._move(writing, f"{to} = {name}[n / kLanes];")
        else:
            self._move(writing, f"{to} = (&{self._array(words)}[0][0])[n];")

    def _shared_member(self, bits: Bits) -> str | None:
        """Return the member that has some bits as a number that is the same for all instances, if there is one."""
        (piece, _), *more = self._expressions.pieces(bits)
        if more or piece.signal is None or piece.signal.name not in self._shared or piece.home()[1] != piece.width:
            return None
        return piece.signal.member(piece.first)

    def _array(self, values: list[Bits]) -> str:
        """Return the name of a local array of the lanes of several values, all of one type."""
        name = f"a_{len(self._expressions.lines)}"
        build = self._expressions
        kind = scalar_type(len(values[0]))
        stores = [
            f"store({name}[{n}], {build.value(bits) if len(bits) > 1 else f'from_mask({build.mask(bits)}, Byte(1u))'});"
            for n, bits in enumerate(values)
        ]
        build.lines.append(f"alignas(64) {kind} {name}[{len(values)}][kLanes]; {' '.join(stores)}")
        return name

    def _move(self, masks: list[str], statement: str) -> None:
        """Add loops that perform a statement for each lane in each of some masks; ``n`` counts the lanes of all."""
        each = 64 // self._lanes
        for first in range(0, len(masks), each):
            terms = [
                f"uint64_t(among<kLanes>({mask})) << {n} * kLanes" for n, mask in enumerate(masks[first : first + each])
            ]
            self._moves += [
                f"for (uint64_t left = {' | '.join(terms)}; left; left &= left - 1) {{",
                f"const int n = {first} * kLanes + std::countr_zero(left);",
                statement,
                "}",
            ]

    def _listing(self) -> Iterator[str]:
        """Yield statements that list the registers and memories of a lane.

        Equal registers of the component are merged into one, which is listed under all names. Constant and unused bits
        are left out.
        """
        registers = {id(signal): signal for signal in self._signals.registers}
        listed: dict[int, set[int]] = {number: set() for number in registers}
        for name, bits in self._netlist.registers:
            driven = tuple(bit if self._signals.drives(bit) else "0" for bit in bits)
            for piece, place in self._expressions.pieces(driven):
                if id(piece.signal) not in registers:
                    continue
                yield self._list_piece(name, piece, place, *self._member(piece))
                listed[id(piece.signal)].update(range(piece.first, piece.first + piece.width))
        for number, signal in registers.items():
            if len(listed[number]) < signal.width:
                raise BuildError(f"register {signal.name} has bits without a name")
        for cell in self._signals.memories:
            name = self._netlist.memories[cell.memory]
            port = self._ports(cell)[0]
            for first, width in _words(port):
                words = port.member(first).replace("read_", "words_")
                where = f"{words}[lane], sizeof **{words}, 0, {cell.numbers['SIZE']}, sizeof **{words}"
                yield f'inventory.add("{name}", {first}, {width}, {where});'

    def _accessors(self, port: Port) -> Iterator[str]:
        """Yield the accessor functions of a port."""
        whole = {run.signal for run in self._signals.runs(port.bits)}
        only = whole.pop() if len(whole) == 1 else None
        if only is not None and only.form is Form.PLACES and only.width == len(port.bits):
            array = only.member(0).removesuffix("[0]")
            constant, method = ("", "") if port.is_input else ("const ", " const")
            yield f"{constant}Bits (&{port.name}(){method})[{only.width}] {{ return {array}; }}"
            return
        if port.name in self._fields:
            step = self._fields[port.name]
            numbers = [port.bits[first : first + step] for first in range(0, len(port.bits), step)]
            place, count = ("[{0}]", f"[{len(numbers)}]") if len(numbers) > 1 else ("", "")
            body = self._computed(port.name, numbers, f"store(numbers{place}, as<{vector_type(step)}>({{1}}));")
            yield f"void get_{port.name}({scalar_type(step)} (&numbers){count}[kLanes]) const {{ {body} }}"
            return
        if len(port.bits) == 1 and self._header == "lanes.h":
            yield self._by_lane(port)
        if only is not None and only.form is Form.FLAG:
            if port.is_input:
                yield f"void {port.name}(Bits lanes) {{ {only.member(0)} = lanes; }}"
            else:
                yield f"Bits {port.name}() const {{ return {only.member(0)}; }}"
            return
        if port.name in self._entries:
            array = self._entries[port.name]
            for word in range(-(-len(port.bits) // WORD)):
                size = f"sizeof {array}[{word}] / sizeof *{array}[{word}]"
                name = f"{port.name.rstrip('0123456789')}_{word}"
                yield f"auto {name}() -> uint64_t (&)[{size}] {{ return {array}[{word}]; }}"
        if len(port.bits) == 1:
            ((run, _),) = self._expressions.pieces(port.bits)
            if run.signal is None:
                yield f"Bits {port.name}() const {{ return {'kAll' if run.first else '0'}; }}"
                return
            if not self._is_kept(port.bits) and not port.is_input:
                yield from self._compute(port.name, port.bits)
                return
            if port.is_input:
                yield f"void {port.name}(Bits lanes) {{ {self._member(run)[0]} = Mask::of(lanes); }}"
            else:
                yield f"Bits {port.name}() const {{ return among<kLanes>({self._flag(run)}); }}"
            return
        for word in range(0, len(port.bits), WORD):
            bits = port.bits[word : word + WORD]
            name = f"{port.name}_{word // WORD}"
            if port.is_input:
                yield from self._put(name, bits, shared=port.name in self._shared)
            else:
                yield from self._get(name, bits)

    @staticmethod
    def _by_lane(port: Port) -> str:
        """Return the function of a port of one bit that takes or returns a number for each lane, as of wider ports."""
        if port.is_input:
            gathered = "for (uint64_t value : values) bits |= Bits(value & 1) << n++;"
            body = f"Bits bits = 0; int n = 0; {gathered} {port.name}(bits);"
            return f"void put_{port.name}_0(const uint64_t (&values)[kLanes]) {{ {body} }}"
        body = f"for (int n = 0; n < kLanes; ++n) values[n] = {port.name}() >> n & 1;"
        return f"void get_{port.name}_0(uint64_t (&values)[kLanes]) const {{ {body} }}"

    def _is_kept(self, bits: Bits) -> bool:
        """Return whether all bits are constants or registers."""
        return all(run.signal is None or run.signal in self._signals.registers for run in self._signals.runs(bits))

    def _compute(self, name: str, bits: Bits) -> Iterator[str]:
        """Yield a function that computes an output that is not a register, on demand."""
        if len(bits) == 1:
            yield f"Bits {name}() const {{ {self._computed(name, [bits], 'return among<kLanes>({1});')} }}"
            return
        body = self._computed(name, [bits], "store(values, as<Long>({1}));")
        yield f"void get_{name}(uint64_t (&values)[kLanes]) const {{ {body} }}"

    def _computed(self, name: str, numbers: Sequence[Bits], use: str) -> str:
        """Return statements that compute numbers of an output, and use each by a template of its place and value."""
        build = Expressions(self._signals, shared=self._shared)
        values = [build.value(bits) for bits in numbers]
        if build.inputs:
            raise BuildError(f"output {name} follows from the input {build.inputs[0]}, not from registers alone")
        return " ".join([*build.lines, *(use.format(place, value) for place, value in enumerate(values))])

    def _member(self, piece: Run) -> tuple[str, int, int]:
        """Return the member that holds a piece of an input or a register, its first bit and its width."""
        signal = piece.signal
        assert signal is not None
        if signal.cell is not None and signal not in self._signals.registers:
            raise BuildError(f"cell {signal.cell.name} drives an output, which only a register may")
        start, width = piece.home()
        return signal.member(start), *signal.words.get(start, (start, width))

    def _is_word(self, piece: Run) -> bool:
        """Return whether a piece is in a word read from a memory, where flags are numbers like any other."""
        return piece.signal is not None and piece.signal.cell in self._signals.memories

    def _flag(self, piece: Run) -> str:
        """Return an expression for one bit of a register, as a mask of lanes."""
        member, start, width = self._member(piece)
        if width == 1 and not self._is_word(piece):
            return f"load({member})"
        return f"test(load({member}), {vector_type(max(width, 2))}({1 << (piece.first - start):#x}))"

    def _put(self, name: str, bits: Bits, *, shared: bool) -> Iterator[str]:
        scalars, vectors = [], []
        if shared:
            for piece, place in self._expressions.pieces(bits):
                member, _, width = self._member(piece)
                scalars.append(f"{member} = {scalar_type(width)}(value >> {place} & {(1 << width) - 1:#x}ull);")
            yield f"void put_{name}(uint64_t value) {{ {' '.join(scalars)} }}"
            return
        for piece, place in self._expressions.pieces(bits):
            member, _, width = self._member(piece)
            if width == 1:
                scalars.append(f"{member}.put(lane, value >> {place} & 1);")
                vectors.append(f"{member} = test(all, Long({1 << place:#x}ull));")
            else:
                field = f"{(1 << width) - 1:#x}ull"
                scalars.append(f"{member}[lane] = {scalar_type(width)}(value >> {place} & {field});")
                part = f"(shr<{place}>(all) & Long({field}))" if width < WORD else "all"
                vectors.append(f"store({member}, as<{vector_type(width)}>({part}));")
        yield f"void put_{name}(int lane, uint64_t value) {{ {' '.join(scalars)} }}"
        body = f"const Long all = load(values); {' '.join(vectors)}"
        yield f"void put_{name}(const uint64_t (&values)[kLanes]) {{ {body} }}"

    def _get(self, name: str, bits: Bits) -> Iterator[str]:
        if not self._is_kept(bits):
            yield from self._compute(name, bits)
            return
        scalars, vectors = [], []
        for piece, place in self._expressions.pieces(bits):
            if piece.signal is None:
                scalars.append(f"{piece.first << place:#x}ull")
                vectors.append(f"Long({piece.first << place:#x}ull)")
                continue
            member, start, width = self._member(piece)
            if width == 1 and not self._is_word(piece):
                scalars.append(f"uint64_t({member}.bits() >> lane & 1) << {place}")
                vectors.append(f"from_mask(load({member}), Long({1 << place:#x}ull))")
                continue
            down = piece.first - start
            field = f"{(1 << piece.width) - 1:#x}ull"
            scalars.append(f"(uint64_t({member}[lane]) >> {down} & {field}) << {place}")
            vectors.append(f"shl<{place}>(shr<{down}>(as<Long>(load({member}))) & Long({field}))")
        yield f"uint64_t get_{name}(int lane) const {{ return {' | '.join(scalars)}; }}"
        yield f"void get_{name}(uint64_t (&values)[kLanes]) const {{ store(values, {' | '.join(vectors)}); }}"
