"""Generated code: every lane, and every component executed by hand, does what the hardware does, cycle for cycle."""

import random
import subprocess
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from amaranth.hdl import Cat, Elaboratable, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.sim import Simulator

import cyscc.sim.executors
from cyscc.hw.arbitrated_queues import ArbitratedQueues
from cyscc.hw.bfs.slot_station import SlotStation
from cyscc.hw.exchange.visited_bank import VisitedBank
from cyscc.hw.interfaces import ReadRequest, WriteRequest, drive
from cyscc.hw.queue import Queue
from cyscc.hw.queue_bank import QueueBank
from cyscc.hw.switch.credit_bank import CreditBank
from cyscc.hw.switch.request_skid import RequestSkid
from cyscc.hw.verilog import port_names
from cyscc.sim.errors import BuildError
from cyscc.sim.executors.compiled.lanes import describe, lanes_source, single_source
from cyscc.sim.executors.compiled.lanes.schedule import NAME, scheduled
from cyscc.sim.executors.registers import memories, registers
from tests.sim.executors.toolchain import find_processor

SHARED = Path(cyscc.sim.executors.__path__[0]) / "native"
NATIVE = SHARED.parent / "compiled" / "native"

CYCLES = 200
LANES = 5
MOST = 16

READER = """
#include "parts.h"
#include <cstdio>
#include <cstring>
#include <memory>
using namespace cyscc;
static uint64_t next() {
    unsigned long long value = 0;
    if (std::scanf("%llx", &value) != 1) std::abort();
    return value;
}
static void show(uint64_t value) { std::printf("%llx ", (unsigned long long)(value)); }
struct Printer {
    void add(const char* name, int first, int width, void* address, int bytes, int shift, int rows = 1,
             int stride = 0) {
        for (int row = 0; row < rows; ++row) {
            uint64_t value = 0;
            std::memcpy(&value, static_cast<char*>(address) + row * stride, bytes);
            value = value >> shift & (width < 64 ? (uint64_t(1) << width) - 1 : ~uint64_t(0));
            std::printf("\\n%s %d %d %llx", name, row, first, (unsigned long long)(value));
        }
    }
};
"""

RUN = """
template <class Part>
static void run_NUMBER() {
    auto part = std::make_unique<Part>();
    [[maybe_unused]] alignas(64) uint64_t values[LANES], low;
    for (int cycle = 0; cycle < CYCLES; ++cycle) {
BODY
        // A state that was loaded.
        if (cycle % 50 == 49) part->resume();
    }
    Printer printer;
    for (int lane = 0; lane < LANES; ++lane) {
        std::printf("\\nlane");
        part->list(printerFURTHER);
    }
}
"""


class Mixed(wiring.Component):
    """A bit of everything that a kernel is made of."""

    def __init__(self) -> None:
        super().__init__(
            {
                "narrow": In(7),
                "other": In(7),
                "wide": In(40),
                "packed": In(70),
                "flag": In(1),
                "enable": In(1),
                "arithmetic": Out(9),
                "difference": Out(34),
                "relations": Out(9),
                "matches": Out(2),
                "chosen": Out(40),
                "counted": Out(5),
                "history": Out(6),
                "record": Out(70),
                "held": Out(40),
                "recalled": Out(66),
                "recalled_too": Out(66),
                "bit": Out(1),
                "one": Out(1),
                "scaled": Out(12),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Put every result into a register."""
        m = Module()
        a, b, wide, flag = self.narrow, self.other, self.wide, self.flag
        m.d.sync += [
            self.arithmetic.eq((a + b + (a - b)[:3]) ^ (a & b)),
            self.difference.eq(wide[:33].as_signed() - b.as_signed()),
            self.relations.eq(
                Cat(a < b, a <= b, a == b, a != wide[:7], a.any(), b.all(), ~flag, (a > 5) & flag, (a == 3) | ~flag)
            ),
            self.matches.eq(Cat(Cat(flag, self.enable) == 2, Cat(flag, a[6]) == Cat(b[2], self.enable))),
            self.history.eq(Cat(flag, self.history[:-1])),
            self.bit.eq(a[3] ^ (wide[20:] >= 1000)),
            self.one.eq(1),
            self.scaled.eq(a * 11),
        ]
        with m.Switch(a[:3]):
            with m.Case(0):
                m.d.sync += self.chosen.eq(wide)
            with m.Case(1, 2):
                m.d.sync += self.chosen.eq(Cat(b, wide[:33]))
            with m.Case(3):
                m.d.sync += self.chosen.eq(self.chosen + 1)
            with m.Default():
                m.d.sync += self.chosen[3:12].eq(~Cat(flag, b))
        with m.If(self.counted == 17):
            m.d.sync += self.counted.eq(2)
        with m.Elif(flag):
            m.d.sync += self.counted.eq(self.counted + 1)
        with m.If(self.enable):
            m.d.sync += self.record.eq(self.packed)
        # Another register's content of before, in a block of its own.
        with m.If(Cat(self.enable, flag, a[0]).all()):
            m.d.sync += self.held.eq(self.chosen ^ wide)
        # A word of 66 bits whose last two come from elsewhere.
        for depth, result, place in ((8, self.recalled, b), (16, self.recalled_too, wide)):
            m.submodules += (memory := Memory(shape=66, depth=depth, init=[]))
            write, read = memory.write_port(), memory.read_port()
            m.d.comb += [write.addr.eq(a), write.data.eq(Cat(self.packed[:65], flag)), write.en.eq(self.enable | flag)]
            seen = Signal.like(result)
            m.d.comb += [read.addr.eq(place), read.en.eq(~flag), seen.eq(read.data), result.eq(seen)]
        return m


Chooser = Callable[[Random, dict[str, int], dict[str, Any]], dict[str, int]]
"""Returns the next inputs, given the outputs and what it keeps."""


class Banked(wiring.Component):
    """A visited bank whose outputs that follow from inputs are registered."""

    def __init__(self, **sizes: int) -> None:
        self._bank = bank = VisitedBank(**sizes)
        ids = stream.Signature(len(bank.ids.payload))
        super().__init__(
            {
                "sweep": In(1),
                "row": In(len(bank.row)),
                "ids": In(ids),
                "fresh": Out(ids),
                "idle": Out(1),
                "moved": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Elaboratable:
        """Add the registers."""
        m = Module()
        m.submodules.bank = bank = self._bank
        m.d.comb += [
            *drive(bank, sweep=self.sweep, row=self.row),
            *drive(bank.ids, valid=self.ids.valid, payload=self.ids.payload),
            *drive(self.fresh, valid=bank.fresh.valid, payload=bank.fresh.payload),
            *drive(self, idle=bank.idle),
            bank.fresh.ready.eq(self.fresh.ready),
        ]
        m.d.sync += [self.ids.ready.eq(bank.ids.ready), self.moved.eq(bank.moving)]
        return m


class Stationed(wiring.Component):
    """A slot station within another component, as in the shell."""

    def __init__(self, **sizes: int) -> None:
        self._station = SlotStation(**sizes, instrument=True)
        super().__init__(self._station.signature)

    def elaborate(self, platform: object) -> Elaboratable:
        """Add the station."""
        m = Module()
        m.submodules.station = self._station
        connect(m, flipped(self), self._station)
        return m


def pushes(random: Random, seen: dict[str, int], kept: dict[str, Any], *, queues: int, width: int) -> dict[str, int]:
    """Choose what comes: into queues that had room in the cycle before."""
    may, kept["room"] = kept.get("room", 0), seen["room"]
    some = random.getrandbits(queues) & (random.getrandbits(queues) if kept["cycle"] % 100 < 50 else -1)
    return {"push": may & some, **{f"entry{n}": kept["shared"].getrandbits(width) for n in range(queues)}}


def arbitrated(random: Random, seen: dict[str, int], kept: dict[str, Any]) -> dict[str, int]:
    """Choose inputs of `ArbitratedQueues`."""
    return pushes(random, seen, kept, **kept["sizes"]) | {"output_ready": random.random() < 0.8}


def banked(random: Random, seen: dict[str, int], kept: dict[str, Any]) -> dict[str, int]:
    """Choose inputs of `QueueBank`."""
    available = [n for n in range(kept["sizes"]["queues"]) if seen["available"] >> n & 1]
    pull = 1 << random.choice(available) if available and random.random() < 0.9 else 0
    return pushes(random, seen, kept, **kept["sizes"]) | {"pull": pull, "advance": random.random() < 0.8}


def credited(random: Random, seen: dict[str, int], kept: dict[str, Any]) -> dict[str, int]:
    """Choose inputs of `CreditBank`: one place at most is taken, and one given back."""
    used = kept.setdefault("used", [0] * 5)
    free = [n for n in range(5) if seen["available"] >> n & 1]
    taken = random.choice(free) if free and random.random() < 0.8 else None
    given = random.choice([n for n in range(5) if used[n]] or [None])
    if random.random() < 0.3:
        given = None
    for fifo, step in ((taken, 1), (given, -1)):
        if fifo is not None:
            used[fifo] += step
    return {"take": 0 if taken is None else 1 << taken, "give": 0 if given is None else 1 << given}


def visited(random: Random, seen: dict[str, int], kept: dict[str, Any]) -> dict[str, int]:
    """Choose inputs of `Banked`: ids of few different parts, some beyond the bank, and now and then sweeps."""
    rest = 31 - kept["sizes"]["kernels"].bit_length() + 1
    vertex = random.getrandbits(5) | random.getrandbits(1) << 7 | (random.random() < 0.1) << rest - 1
    sweep = kept["cycle"] % 100 > 80
    return {
        "sweep": sweep and seen["idle"],
        "row": random.getrandbits(2),
        "ids_valid": not sweep and random.random() < 0.8,
        "ids_payload": vertex,
        "fresh_ready": random.random() < 0.8,
    }


def streamed(random: Random, seen: dict[str, int], kept: dict[str, Any]) -> dict[str, int]:
    """Choose inputs of what stands between two streams: what is offered stays until it is taken."""
    if not kept.get("offers"):
        kept["offers"] = random.random() < 0.6
        kept["entry"] = random.getrandbits(kept["sizes"]["width"]) if kept["offers"] else kept.get("entry", 0)
    offers, kept["offers"] = kept["offers"], kept["offers"] and not seen["input_ready"]
    ready = random.random() < (0.3 if kept["cycle"] % 100 < 50 else 0.8)
    return {"input_valid": offers, "input_payload": kept["entry"], "output_ready": ready}


def demanding(random: Random, seen: dict[str, int], kept: dict[str, Any]) -> dict[str, int]:
    """Choose inputs of `Stationed`: demands of vertices that can wait, and now and then nothing for some cycles."""
    kernels = kept["sizes"]["kernels"]
    demands, room = kept.setdefault("demands", [0] * kernels), kept.setdefault("room", [True] * kernels)
    idle = kept["cycle"] % 60 > 40
    pace = (0.05, 0.3, 1)[kept["cycle"] // 60 % 3]
    asked = 0
    for n in range(kernels):
        if seen[f"block{n}_valid"]:
            demands[n] -= seen[f"block{n}_payload"] >> 32
            room[n] = False
        elif not idle:
            room[n] |= random.random() < 0.3
        if not idle and demands[n] < kept["sizes"]["depth"] + 4 and random.random() < pace:
            demands[n] += 1
            asked |= 1 << n
    every = (1 << kernels) - 1
    state = {name: random.choice([every, every, 0, random.getrandbits(kernels)]) for name in ("done", "epoch")}
    token = {"token_in_valid": not idle and random.random() < 0.3, "token_in_payload": random.getrandbits(34)}
    return {"asked": asked, "room": sum(free << n for n, free in enumerate(room)), **state, **token}


def ports(component: wiring.Component, *, inputs: bool) -> dict[str, int]:
    """Return widths of the inputs or outputs by name."""
    members = {"_".join(map(str, path)): member for path, member, _ in component.signature.flatten(component)}
    return {
        name: len(signal) for name, (signal, _) in port_names(component).items() if (members[name].flow == In) == inputs
    }


def mixed(random: Random, seen: dict[str, int], kept: dict[str, Any]) -> dict[str, int]:
    """Choose inputs of `Mixed`: anything."""
    return {name: random.getrandbits(width) for name, width in kept["sizes"].items()}


STIMULI: dict[str, tuple[Callable[[], wiring.Component], Chooser, dict[str, int]]] = {
    "mixed": (Mixed, mixed, {}),
    "ids": (lambda: ArbitratedQueues(27, queues=6, depth=8), arbitrated, {"queues": 6, "width": 27}),
    "requests": (lambda: ArbitratedQueues(108, queues=3, depth=4), arbitrated, {"queues": 3, "width": 108}),
    "answers": (lambda: QueueBank(64, queues=5, depth=16), banked, {"queues": 5, "width": 64}),
    "words": (lambda: QueueBank(70, queues=2, depth=4), banked, {"queues": 2, "width": 70}),
    "credits": (lambda: CreditBank(fifos=5, depth=5), credited, {}),
    "order": (lambda: Queue(6, 8), streamed, {"width": 6}),
    "long order": (lambda: Queue(70, 4), streamed, {"width": 70}),
    "reads": (lambda: RequestSkid(ReadRequest, (3, 6, 7, 8)), streamed, {"width": 51}),
    "writes": (lambda: RequestSkid(WriteRequest, (6, 7)), streamed, {"width": 113}),
    "ids met": (lambda: Banked(kernels=4, vertices=1 << 11), visited, {"kernels": 4}),
    "few ids met": (lambda: Banked(kernels=2, vertices=16), visited, {"kernels": 2}),
    **{
        f"station of {kernels}": (partial(Stationed, **sizes), demanding, sizes)
        for kernels, depth in ((1, 4), (6, 64), (16, 64))
        for sizes in ({"kernels": kernels, "depth": depth},)
    },
}
"""What is simulated: a component, what chooses its inputs, and sizes for that."""

CASES = {
    **{f"mixed, {lanes} lanes": ("mixed", lanes) for lanes in (0, 1, 3, 11, MOST)},
    **{name: (name, 0 if name.startswith("station") else LANES) for name in list(STIMULI)[1:]},
}
"""What is compiled: what to simulate, and as how many lanes; 0: single instances with pins."""


@cache
def simulated(
    case: str,
) -> tuple[list[list[dict[str, int]]], list[list[dict[str, int]]], list[dict[str, list[int]]]]:
    """Simulate an instance for each lane; return inputs and outputs by cycle and lane, and the last state by lane."""
    make, choose, sizes = STIMULI[case]
    instances = [make() for _ in range(MOST if case == "mixed" else LANES)]
    top = Module()
    for lane, instance in enumerate(instances):
        top.submodules[f"lane{lane}"] = instance
    simulator = Simulator(top)
    simulator.add_clock(1e-6)
    widths, outputs = ports(instances[0], inputs=True), ports(instances[0], inputs=False)
    pins = [{name: Value.cast(signal) for name, (signal, _) in port_names(each).items()} for each in instances]
    given: list[list[dict[str, int]]] = []
    seen: list[list[dict[str, int]]] = []
    states: list[dict[str, list[int]]] = []

    async def bench(context: Any) -> None:
        def show(lane: int) -> dict[str, int]:
            return {name: context.get(pins[lane][name]) for name in outputs}

        lanes = range(len(instances))
        randoms = [Random(lane) for lane in lanes]
        kept: list[dict[str, Any]] = [{"sizes": sizes or widths} for _ in instances]
        now = [show(lane) for lane in lanes]
        for cycle in range(CYCLES):
            inputs = []
            for lane in lanes:
                # What is the same for all lanes.
                kept[lane] |= {"cycle": cycle, "shared": Random(cycle)}
                inputs.append({name: int(v) for name, v in choose(randoms[lane], now[lane], kept[lane]).items()})
                for name, value in inputs[-1].items():
                    context.set(pins[lane][name], value)
            await context.tick()
            now = [show(lane) for lane in lanes]
            given.append(inputs)
            seen.append(now)
        rows = {register.name: [register.signal] for register in registers(simulator._design)}
        for memory in memories(simulator._design):
            rows[memory.name] = [Value.cast(memory.data[row]) for row in range(memory.depth)]
        for lane in lanes:
            own = {name: values for name, values in rows.items() if name.startswith(f"lane{lane}.")}
            states.append(
                {name.partition(".")[2]: [context.get(Value.cast(v)) for v in values] for name, values in own.items()}
            )

    simulator.add_testbench(bench)
    simulator.run()
    return given, seen, states


def words(width: int) -> range:
    """Return the numbers of the words of a port."""
    return range(-(-width // 64))


def driver(component: wiring.Component, source: str) -> list[str]:
    """Return statements that read the inputs of a cycle and print the outputs, in the forms of a class of lanes."""
    body = []
    for name, width in ports(component, inputs=True).items():
        if f"Bits (&{name}())" in source:
            body.append(f"for (auto& lanes : part->{name}()) lanes = Bits(next());")
        elif name.startswith("entry"):
            body += [f"part->put_{name}_{word}(next());" for word in words(width)]
        elif width == 1:
            body.append(f"part->{name}(Bits(next()));")
        else:
            for word in words(width):
                by_lane = f"part->put_{name}_{word}(lane++, value);"
                read = f"for (auto& value : values) {{ value = next(); {by_lane if word else ''} }}"
                body.append(f"{{ [[maybe_unused]] int lane = 0; {read} }}")
                if not word:
                    body.append(f"part->put_{name}_0(values);")
    body.append("part->tick();")
    for name, width in ports(component, inputs=False).items():
        if f"Bits (&{name}() const)" in source:
            body.append(f"for (auto& lanes : part->{name}()) show(lanes);")
        elif width == 1:
            body.append(f"show(part->{name}());")
        else:
            for word in words(width):
                get = f"get_{name}_{word}"
                if word and f"{get}(int lane)" in source:
                    body.append(f"for (int lane = 0; lane < Part::kLanes; ++lane) show(part->{get}(lane));")
                else:
                    body.append(f"part->{get}(values); for (auto value : values) show(value);")
    return body


def single_driver(component: wiring.Component) -> list[str]:
    """Return the same for a single instance with pins."""
    body = [
        f"low = next(); set(part->{name}, low{', next()' if width > 64 else ''});"
        for name, width in ports(component, inputs=True).items()
    ]
    body.append("part->tick();")
    for name, width in ports(component, inputs=False).items():
        if name.startswith("block"):
            number, _, kind = name.removeprefix("block").partition("_")
            station = f"part->station().block{'s' if kind == 'valid' else f'[{number}]'}"
            body.append(f"show({station}{f' >> {number} & 1' if kind == 'valid' else ''});")
        else:
            body += [f"show(get(part->{name}, {word}));" for word in words(width)]
    return body


@cache
def generated(case: str) -> tuple[str, str, dict[str, int], dict[str, int]]:
    """Return the class of a case, a function that runs it, and the widths of inputs and outputs by name."""
    stimulus, lanes = CASES[case]
    number = list(CASES).index(case)
    component = STIMULI[stimulus][0]()
    if lanes:
        shared = [name for name in ports(component, inputs=True) if name.startswith("entry")]
        source = lanes_source(describe(component), name=f"Part{number}", lanes=lanes, shared=shared, fifos=True)
    else:
        source = single_source(describe(component), name=f"Part{number}")
    body = "\n".join(driver(component, source) if lanes else single_driver(component))
    run = RUN.replace("BODY", body).replace("CYCLES", str(CYCLES)).replace("NUMBER", str(number))
    run = run.replace("LANES", str(lanes or 1)).replace("FURTHER", ", lane" if lanes else "")
    return source, run, ports(component, inputs=True), ports(component, inputs=False)


Run = Callable[[str, list[int]], list[str]]
"""Runs a case, given the inputs; returns all outputs, and the state by lane."""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Run]:
    """Return a function that compiles cases for a processor: all with lanes as one program, or all without."""

    @cache
    def program(processor: str, *, single: bool) -> Run:
        target = find_processor(processor)
        folder = tmp_path_factory.mktemp(processor)
        own = [case for case, (_, lanes) in CASES.items() if (lanes == 0) == single]
        sources, runs, *_ = zip(*map(generated, own), strict=True)
        (folder / "parts.h").write_text("".join(sources))
        calls = [f"if (number == {n}) run_{n}<Part{n}>();" for n in map(list(CASES).index, own)]
        main = ["int main(int, char** arguments) {", "const int number = std::atoi(arguments[1]);", *calls, "}\n"]
        (folder / "driver.cpp").write_text(READER + "".join(runs) + "\n".join(main))
        include = ("-I", str(NATIVE), "-I", str(SHARED))
        command = [*target.compiler, "-std=c++20", "-O0", *include, "driver.cpp", "-o", "driver"]
        subprocess.run(command, cwd=folder, check=True)

        def run(case: str, numbers: list[int]) -> list[str]:
            given = " ".join(f"{value:x}" for value in numbers)
            started = [*target.runner, str(folder / "driver"), str(list(CASES).index(case))]
            result = subprocess.run(started, input=given, capture_output=True, text=True, check=True)
            return result.stdout.split("\nlane")

        return run

    return program


def in_forms(widths: dict[str, int], source: str, values: list[dict[str, int]]) -> list[int]:
    """Return what lanes have at their inputs or outputs, in the order in which the program reads or prints it."""
    found = []
    for name, width in widths.items():
        each = [lane[name] for lane in values]
        if f"Bits (&{name}()" in source or width == 1:
            found += [sum((value >> place & 1) << lane for lane, value in enumerate(each)) for place in range(width)]
        else:
            shown = each[:1] if name.startswith("entry") else each
            found += [value >> 64 * word & (1 << 64) - 1 for word in words(width) for value in shown]
    return found


SELDOM = ("mixed, 3 lanes", "station of 16", "skylake-avx512", "aarch64")


def is_long(case: str, processor: str) -> bool:
    """Return whether others show the same: single instances have no code of their own for a processor."""
    return case in SELDOM or processor in SELDOM or (processor != "native" and not CASES[case][1])


@pytest.mark.parametrize(
    ("case", "processor"),
    [
        pytest.param(case, processor, marks=pytest.mark.long if is_long(case, processor) else ())
        for processor in (
            "native",
            "x86-64-v3",  # AVX2
            "skylake-avx512",  # the first with AVX-512, without what later ones added
            "x86-64-v2",  # SSE4.2
            "plain",  # as on a processor of another make
            "aarch64",
        )
        for case in CASES
    ],
)
def test_generated_code_does_what_the_hardware_does(case: str, processor: str, programs: Callable[..., Run]) -> None:
    stimulus, lanes = CASES[case]
    run = programs(processor, single=lanes == 0)
    source, _, inputs, outputs = generated(case)
    header = {"mixed": "scalar.h" if lanes == 0 else "lanes.h"}.get(
        stimulus, "primitives.h" if lanes else "slot_station.h"
    )
    assert f'#include "{header}"' in source
    given, seen, states = simulated(stimulus)
    groups = [slice(lanes)] if lanes else [slice(lane, lane + 1) for lane in range(len(states))]
    for own in groups:
        shown, *left = run(case, [n for each in given for n in in_forms(inputs, source, each[own])])
        got = iter(int(word, 16) for word in shown.split())
        for cycle, each in enumerate(seen):
            wanted = in_forms(outputs, source, each[own])
            assert [next(got) for _ in wanted] == wanted, f"cycle {cycle}"
        if stimulus != "mixed":
            assert [parsed(lines, like) for lines, like in zip(left, states[own], strict=True)] == states[own]


def parsed(lines: str, like: dict[str, list[int]]) -> dict[str, list[int]]:
    """Return the state that a lane has printed, with as many rows as there should be."""
    found = {name: [0] * len(rows) for name, rows in like.items()}
    listed = set()
    for name, row, first, value in (line.split() for line in lines.split("\n")[1:]):
        found[name][int(row)] |= int(value, 16) << int(first)
        listed.add((name, int(row)))
    assert listed == {(name, row) for name, rows in like.items() for row in range(len(rows))}
    return found


def test_entries_of_each_lane_are_refused() -> None:
    with pytest.raises(BuildError, match=r"^the queues' entry0 is not an input that is the same for all lanes$"):
        lanes_source(describe(QueueBank(64, queues=2, depth=4)), name="Part_", lanes=2)


class Refused(wiring.Component):
    """Something that no kernel needs."""

    def __init__(self, describe: Callable[[Module, "Refused"], None]) -> None:
        super().__init__({"a": In(8), "b": In(3), "c": Out(8)})
        self._describe = describe

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe it."""
        m = Module()
        self._describe(m, self)
        return m


def unregistered(m: Module, part: Refused) -> None:
    """Add an output without a register."""
    m.d.comb += part.c.eq(part.a + 1)


def shifting(m: Module, part: Refused) -> None:
    """Shift by a variable."""
    m.d.sync += part.c.eq(part.a >> part.b)


def looking(m: Module, part: Refused) -> None:
    """Read a memory without a clock."""
    m.submodules.memory = memory = Memory(shape=8, depth=8, init=[1, 2, 3])
    write, read = memory.write_port(), memory.read_port(domain="comb")
    m.d.comb += [read.addr.eq(part.b), write.en.eq(part.a[0]), write.addr.eq(part.b), write.data.eq(part.a)]
    m.d.sync += part.c.eq(read.data)


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        (unregistered, "output c_0 follows from the input a, not from registers alone"),
        (shifting, "is of the kind $shr, which the lanes cannot compute"),
        (looking, "is of a form that the lanes do not cover"),
    ],
)
def test_what_lanes_cannot_do_is_named(body: Callable[[Module, Refused], None], cause: str) -> None:
    with pytest.raises(BuildError, match=cause.replace("$", r"\$")):
        lanes_source(describe(Refused(body)), name="Refused", lanes=4)


def _statements(seed: int, count: int = 200) -> list[str]:
    """Return statements that load members, combine values, and set members, in the order of a careless writer."""
    random_ = random.Random(seed)
    lines = [f"const Word v_r{number}_0 = load(r{number}_0);" for number in range(count // 4)]
    values = [f"v_r{number}_0" for number in range(count // 4)]
    for number in range(count):
        operands = random_.sample(values, random_.randint(1, 3))
        lines.append(f"const Word v_c{number}_0 = {' | '.join(operands)};")
        values.append(f"v_c{number}_0")
    for number in range(count // 4):
        lines.append(f"const Word n_r{number}_0 = {random_.choice(values)};")
        lines.append(f"update(r{number}_0, {random_.choice(values)}, n_r{number}_0, v_r{number}_0);")
    return lines


def _most_alive(lines: list[str]) -> int:
    """Return how many values wait for a use at once."""
    last = {name: place for place, line in enumerate(lines) for name in NAME.findall(line)}
    alive: set[str] = set()
    most = 0
    for place, line in enumerate(lines):
        alive = {name for name in alive | set(NAME.findall(line)) if last[name] > place}
        most = max(most, len(alive))
    return most


@pytest.mark.parametrize("seed", range(10))
def test_order_is_right(seed: int) -> None:
    """All statements are there, values are defined before they are used, and members are set after they are loaded."""
    before = _statements(seed)
    lines = scheduled(before)
    assert sorted(lines) == sorted(before)
    defined: set[str] = set()
    members: set[str] = set()
    for line in lines:
        names = NAME.findall(line)
        if line.startswith("const"):
            defined.add(names.pop(0))
            assert "load(" not in line or line.split("load(")[1].split(")")[0] not in members
        else:
            members.add(line.split("(")[1].split(",")[0])
        assert defined.issuperset(names)


@pytest.mark.parametrize("seed", range(10))
def test_few_values_are_alive(seed: int) -> None:
    """Fewer values are alive at once than in the order given."""
    given = _statements(seed)
    assert _most_alive(scheduled(given)) < 0.8 * _most_alive(given)


def test_loads_wait_for_their_use() -> None:
    """A value that is needed late is loaded late."""
    given = [f"const Word v_r{number}_0 = load(r{number}_0);" for number in range(3)]
    given += [f"store(r{number}_0, v_r{number}_0);" for number in range(3)]
    assert scheduled(given) == [line for pair in zip(given[:3], given[3:], strict=True) for line in pair]
