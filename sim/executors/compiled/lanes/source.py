"""C++ source of a class that simulates all instances of a module together."""

from collections.abc import Iterator

from cyscc.sim.errors import BuildError
from cyscc.sim.executors.compiled.lanes.expressions import Expressions, scalar_type, vector_type
from cyscc.sim.executors.compiled.lanes.netlist import Bits, Cell, Description, Netlist, Port, read_netlist
from cyscc.sim.executors.compiled.lanes.slices import WORD, Run, Signal, Signals

__all__ = ["lanes_source", "single_source"]


def lanes_source(description: Description, *, name: str, lanes: int) -> str:
    """Return a C++ header that defines a class of all instances of a component.

    A one-bit signal is a mask with one bit per instance. A wider signal is an array with one element per instance, or a
    vector register within a cycle. So one or two instructions perform a hardware operation for all instances.
    `native/lanes.h` defines the operations.

    For each one-bit port, the class has a function of the port's name that takes or returns a mask. For each 64-bit
    word ``w`` of a wider port, it has ``put_<port>_<w>(lane, value)`` and ``put_<port>_<w>(values)`` (inputs), or
    ``get_<port>_<w>(lane)`` and ``get_<port>_<w>(values)`` (outputs). An output that is no register has the last one,
    which computes it. ``tick()`` advances all instances by a cycle; outputs are then those of the next cycle. All state
    except memories is in the bytes from ``first_register`` to ``end_of_registers()``. ``wrote()`` is the mask of
    instances whose memories the last cycle has written. ``list(inventory, lane)`` adds the registers and memories of an
    instance by name.

    Parameters
    ----------
    description : Description
        The module. Its outputs must be functions of registers only.
    name : str
        Name of the class.
    lanes : int
        Instances, 1 to 16.

    Raises
    ------
    BuildError
        Yosys failed, or the module has an unsupported cell; with its name.
    """
    return _Source(read_netlist(description), name=name, lanes=lanes).text()


def single_source(description: Description, *, name: str) -> str:
    """Return a C++ header that defines a class of a single instance of a component, with its ports as data members.

    A port of more than 64 bits, at most 128, is an array of 32-bit words. ``tick()`` advances the instance by a cycle:
    it reads the inputs, and sets the outputs to those of the next cycle. ``show()`` sets the outputs after the
    registers were changed. ``list(inventory)`` adds registers and memories by name.

    Parameters
    ----------
    description : Description
        The module. Its outputs must be functions of registers only.
    name : str
        Name of the class.

    Raises
    ------
    BuildError
        See `lanes_source`.
    """
    netlist = read_netlist(description)
    lane = f"{name}Lane"
    pins: list[str] = []
    inputs: list[str] = []
    outputs: list[str] = []
    for port in netlist.ports:
        words = -(-len(port.bits) // WORD)
        size = f"[{-(-len(port.bits) // 32)}]" if words > 1 else ""
        pins.append(f"{'uint64_t' if words == 1 else 'uint32_t'} {port.name}{size} = {{}};")
        if len(port.bits) == 1:
            line = f"lane.{port.name}(Mask({port.name}));" if port.is_input else f"{port.name} = lane.{port.name}();"
            (inputs if port.is_input else outputs).append(line)
        elif port.is_input:
            inputs += [f"lane.put_{port.name}_{word}(0, get({port.name}, {word}));" for word in range(words)]
        else:
            outputs += [f"lane.get_{port.name}_{word}({('low', 'high')[word]});" for word in range(words)]
            outputs.append(f"set({port.name}, {', '.join(('low[0]', 'high[0]')[:words])});")
    parts = [
        _Source(netlist, name=lane, lanes=1, single=True).text(),
        '#include "pins.h"',
        "namespace cyscc {",
        f"struct {name} {{",
        *pins,
        f"{lane} lane;",
        f"{name}() {{ show(); }}",
        "void tick() {",
        *inputs,
        "lane.tick();",
        "show();",
        "}",
        "void show() {",
        "[[maybe_unused]] uint64_t low[1], high[1];",
        *outputs,
        "}",
        "template <class Inventory>",
        "void list(Inventory& inventory) { lane.list(inventory, 0); }",
        "};",
        "}  // namespace cyscc",
    ]
    return "\n".join(parts) + "\n"


class _Source:
    """Collects the parts of the class, whose vectors are plain numbers if it is of a single instance."""

    def __init__(self, netlist: Netlist, *, name: str, lanes: int, single: bool = False) -> None:
        self._netlist = netlist
        self._name = name
        self._lanes = lanes
        self._header = "scalar.h" if single else "lanes.h"
        # A vector register is loaded from a cache line of its own.
        self._aligned = "" if single else "alignas(64) "
        self._signals = Signals(netlist)
        self._expressions = Expressions(self._signals)
        self._inputs: list[str] = []
        self._registers: list[str] = []
        self._memories: list[str] = []
        self._updates: list[str] = []

    def text(self) -> str:
        """Return the header."""
        for port in self._netlist.ports:
            if port.is_input:
                self._declare_input(port)
        for cell in self._signals.memories:
            self._add_memory(cell)
        for signal in self._signals.registers:
            assert signal.cell is not None
            if signal.cell.kind != "$mem_v2":
                self._add_register(signal, signal.cell)
        listing = list(self._listing())
        accessors = [line for port in self._netlist.ports for line in self._accessors(port)]
        parts = [
            "#pragma once",
            f'#include "{self._header}"',
            "namespace cyscc {",
            f"struct {self._name} {{",
            f"static constexpr int kLanes = {self._lanes};",
            f"static constexpr Mask kAll = {(1 << self._lanes) - 1:#x}u;",
            "using Word = Words<kLanes>;",
            "using Long = Longs<kLanes>;",
            *self._inputs,
            # The registers lie between these two members.
            "alignas(64) char first_register[64] = {};",
            *self._registers,
            "Mask written = 0;",
            *self._memories,
            *accessors,
            "const char* end_of_registers() const { return reinterpret_cast<const char*>(&written); }",
            "Mask wrote() const { return written & kAll; }",
            "template <class Inventory>",
            "void list(Inventory& inventory, int lane) {",
            *listing,
            "}",
            "void tick() {",
            "written = 0;",
            *self._expressions.lines,
            *self._updates,
            "}",
            "};",
            "}  // namespace cyscc",
        ]
        return "\n".join(parts) + "\n"

    def _declare(self, members: list[str], signal: Signal, initial: dict[int, int]) -> None:
        """Declare the members that hold a register or an input."""
        for first, end in signal.slices():
            width = end - first
            value = sum(initial.get(index, 0) << (index - first) for index in range(first, end))
            member = f"{signal.name}_{first}"
            if width == 1:
                members.append(f"Mask {member} = {'kAll' if value else '0'};")
            else:
                kind = scalar_type(width)
                fill = ", ".join([f"{value:#x}"] * self._lanes)
                members.append(f"{self._aligned}{kind} {member}[kLanes] = {{{fill}}};")

    def _declare_input(self, port: Port) -> None:
        (signal,) = {run.signal for run in self._signals.runs(port.bits)}
        assert signal is not None
        self._declare(self._inputs, signal, {})

    def _add_register(self, signal: Signal, cell: Cell) -> None:
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
            constant = reset_value >> first & ((1 << width) - 1)
            if width == 1:
                old = build.slice_name(signal, first) if enable else ""
                following = f"(({value}) & {enable}) | ({old} & ~{enable})" if enable else value
                if reset:
                    following = f"({following}) | {reset}" if constant else f"({following}) & ~{reset}"
                build.lines.append(f"const Mask n_{member} = {following};")
                self._updates.append(f"{member} = n_{member};")
                continue
            kind = vector_type(width)
            if reset:
                value = f"select({reset}, {kind}({constant:#x}), {value})"
            build.lines.append(f"const {kind} n_{member} = {value};")
            if enable:
                taken = f"({enable} | {reset})" if reset and cell.kind == "$sdffe" else enable
                old = build.slice_name(signal, first)
                self._updates.append(f"if ({taken} & kAll) store({member}, select({taken}, n_{member}, {old}));")
            else:
                self._updates.append(f"store({member}, n_{member});")

    def _condition(self, cell: Cell, pin: str) -> str | None:
        """Return the name of an enable or a synchronous reset as a mask, if the cell has it."""
        if pin not in cell.pins:
            return None
        bit = self._expressions.mask(cell.pins[pin])
        name = f"x_{len(self._expressions.lines)}"
        sign = "" if cell.numbers[f"{pin}_POLARITY"] else "~"
        self._expressions.lines.append(f"const Mask {name} = {sign}({bit});")
        return name

    def _add_memory(self, cell: Cell) -> None:
        """Add a memory with clocked read ports, which return the contents before this cycle's writes."""
        width, bits = cell.numbers["WIDTH"], cell.numbers["ABITS"]
        ports = [signal for signal in self._signals.registers if signal.cell is cell]
        plain = ("RD_ARST", "RD_SRST", "RD_TRANSPARENCY_MASK")
        usual = all(set(cell.pins.get(pin, ())) <= {"0"} and not cell.numbers.get(pin, 0) for pin in plain)
        clocked = cell.numbers["RD_CLK_ENABLE"] == (1 << len(ports)) - 1
        if not usual or not clocked or not ports or cell.numbers["OFFSET"] or cell.numbers["INIT"]:
            raise BuildError(f"memory {cell.name} is of a form that the lanes do not cover")
        stores = list(self._stores(cell))
        for first, end, store in stores:
            # As many words as addresses: a loaded state may have any.
            self._memories.append(f"{scalar_type(end - first)} {store}[kLanes][{1 << bits}] = {{}};")
        for number, signal in enumerate(ports):
            self._declare(self._registers, signal, {})
            moves = []
            for first, end, store in stores:
                member, word = f"{signal.name}_{first}", f"{store}[lane][place]"
                moves.append(f"put_bit({member}, lane, {word});" if end - first == 1 else f"{member}[lane] = {word};")
            enable = cell.pins["RD_EN"][number]
            self._move(cell.pins["RD_ADDR"][number * bits : (number + 1) * bits], (enable,), moves)
        for number in range(cell.numbers["WR_PORTS"]):
            data = cell.pins["WR_DATA"][number * width : (number + 1) * width]
            enables = cell.pins["WR_EN"][number * width : (number + 1) * width]
            address = cell.pins["WR_ADDR"][number * bits : (number + 1) * bits]
            if len(set(enables)) != 1:
                raise BuildError(f"memory {cell.name} writes parts of its words, which the lanes do not cover")
            moves = []
            for first, end, store in stores:
                array = self._array(data[first:end])
                moves.append(f"{store}[lane][place] = {array}[lane];")
            self._move(address, enables[:1], moves)
            self._updates.append(f"written |= {self._expressions.mask(enables[:1])};")

    def _array(self, bits: Bits) -> str:
        """Return the name of a local array of a value's lanes."""
        value = (
            self._expressions.value(bits) if len(bits) > 1 else f"from_mask({self._expressions.mask(bits)}, Word(1u))"
        )
        name = f"a_{len(self._expressions.lines)}"
        kind = scalar_type(len(bits))
        self._expressions.lines.append(f"alignas(64) {kind} {name}[kLanes]; store({name}, {value});")
        return name

    def _move(self, address: Bits, enable: Bits, moves: list[str]) -> None:
        places = self._array(address)
        mask = self._expressions.mask(enable)
        self._updates += [
            f"for (Mask left = {mask} & kAll; left; left &= left - 1) {{",
            f"const int lane = std::countr_zero(left); const uint32_t place = {places}[lane];",
            *moves,
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
                member, start, width = self._member(piece)
                where = (
                    f"&{member}, 4, lane" if width == 1 else f"&{member}[lane], sizeof *{member}, {piece.first - start}"
                )
                yield f'inventory.add("{name}", {place}, {piece.width}, {where});'
                listed[id(piece.signal)].update(range(piece.first, piece.first + piece.width))
        for number, signal in registers.items():
            if len(listed[number]) < signal.width:
                raise BuildError(f"register {signal.name} has bits without a name")
        for cell in self._signals.memories:
            name = self._netlist.memories[cell.memory]
            for first, end, store in self._stores(cell):
                where = f"{store}[lane], sizeof **{store}, 0, {cell.numbers['SIZE']}, sizeof **{store}"
                yield f'inventory.add("{name}", {first}, {end - first}, {where});'

    def _stores(self, cell: Cell) -> Iterator[tuple[int, int, str]]:
        """Yield first bit and end of each slice of a memory's words, and the array that holds it."""
        port = next(signal for signal in self._signals.registers if signal.cell is cell)
        for first, end in port.slices():
            yield first, end, f"{port.name}_{first}_words"

    def _accessors(self, port: Port) -> Iterator[str]:
        """Yield the accessor functions of a port."""
        if len(port.bits) == 1:
            ((run, _),) = self._expressions.pieces(port.bits)
            if run.signal is None:
                yield f"Mask {port.name}() const {{ return {'kAll' if run.first else '0'}; }}"
                return
            if not self._is_kept(port.bits) and not port.is_input:
                yield from self._compute(port.name, port.bits)
                return
            member, start, width = self._member(run)
            if port.is_input:
                yield f"void {port.name}(Mask lanes) {{ {member} = lanes; }}"
            elif width == 1:
                yield f"Mask {port.name}() const {{ return {member} & kAll; }}"
            else:
                bit = f"{vector_type(width)}({1 << (run.first - start):#x})"
                yield f"Mask {port.name}() const {{ return test(load({member}), {bit}); }}"
            return
        for word in range(0, len(port.bits), WORD):
            bits = port.bits[word : word + WORD]
            yield from (self._put if port.is_input else self._get)(f"{port.name}_{word // WORD}", bits)

    def _is_kept(self, bits: Bits) -> bool:
        """Return whether all bits are constants or registers."""
        return all(run.signal is None or run.signal in self._signals.registers for run in self._signals.runs(bits))

    def _compute(self, name: str, bits: Bits) -> Iterator[str]:
        """Yield a function that computes an output that is not a register, on demand."""
        build = Expressions(self._signals)
        value = build.value(bits)
        if build.inputs:
            raise BuildError(f"output {name} follows from the input {build.inputs[0]}, not from registers alone")
        body = " ".join(build.lines)
        if len(bits) == 1:
            yield f"Mask {name}() const {{ {body} return ({value}) & kAll; }}"
            return
        result = f"widen({value})" if vector_type(len(bits)) == "Word" else value
        yield f"void get_{name}(uint64_t (&values)[kLanes]) const {{ {body} store(values, {result}); }}"

    def _member(self, piece: Run) -> tuple[str, int, int]:
        """Return the member that holds a piece of an input or a register, its first bit and its width."""
        signal = piece.signal
        assert signal is not None
        if signal.cell is not None and signal not in self._signals.registers:
            raise BuildError(f"cell {signal.cell.name} drives an output, which only a register may")
        start, width = piece.home()
        return f"{signal.name}_{start}", start, width

    def _put(self, name: str, bits: Bits) -> Iterator[str]:
        scalars, vectors = [], []
        for piece, place in self._expressions.pieces(bits):
            member, _, width = self._member(piece)
            if width == 1:
                scalars.append(f"put_bit({member}, lane, value >> {place} & 1);")
                vectors.append(f"{member} = test(all, Long({1 << place:#x}ull));")
            else:
                field = f"{(1 << width) - 1:#x}ull"
                scalars.append(f"{member}[lane] = {scalar_type(width)}(value >> {place} & {field});")
                part = f"(shr<{place}>(all) & Long({field}))" if width < WORD else "all"
                vectors.append(f"store({member}, {part if width > 32 else f'narrow({part})'});")
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
            if width == 1:
                scalars.append(f"uint64_t({member} >> lane & 1) << {place}")
                vectors.append(f"from_mask({member}, Long({1 << place:#x}ull))")
                continue
            down = piece.first - start
            field = f"{(1 << piece.width) - 1:#x}ull"
            scalars.append(f"(uint64_t({member}[lane]) >> {down} & {field}) << {place}")
            loaded = f"load({member})" if width > 32 else f"widen(load({member}))"
            vectors.append(f"shl<{place}>(shr<{down}>({loaded}) & Long({field}))")
        yield f"uint64_t get_{name}(int lane) const {{ return {' | '.join(scalars)}; }}"
        yield f"void get_{name}(uint64_t (&values)[kLanes]) const {{ store(values, {' | '.join(vectors)}); }}"
