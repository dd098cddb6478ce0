"""Components that are executed by hand: outputs, registers and memories are those of the hardware, cycle for cycle."""

import subprocess
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from amaranth.hdl import Elaboratable, Module, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.sim import Simulator

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
from cyscc.sim.executors.registers import memories, registers
from tests.sim.executors.test_lanes import NATIVE, SHARED
from tests.sim.executors.toolchain import find_processor

CYCLES = 300
LANES = 5

READER = """
#include "part.h"
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

DRIVER = """
int main() {
    auto part = std::make_unique<Part_>();
    alignas(64) uint64_t values[Part_::kLanes];
    for (int cycle = 0; cycle < CYCLES; ++cycle) {
BODY
        // A state that was loaded.
        if (cycle % 50 == 49) part->resume();
    }
    Printer printer;
    for (int lane = 0; lane < Part_::kLanes; ++lane) {
        std::printf("\\nlane");
        part->list(printer, lane);
    }
}
"""

SINGLE_DRIVER = """
int main() {
    auto part = std::make_unique<Part_>();
    for (int cycle = 0; cycle < CYCLES; ++cycle) {
BODY
        if (cycle % 50 == 49) part->resume();
    }
    Printer printer;
    std::printf("\\nlane");
    part->list(printer);
}
"""

Chooser = Callable[[Random, dict[str, int], dict[str, Any]], dict[str, int]]
"""Returns the next inputs, given the outputs and what it keeps."""


class Banked(wiring.Component):
    """A visited bank whose outputs that follow from inputs are registered."""

    def __init__(self, **sizes: int) -> None:
        self._sizes = sizes
        bank = VisitedBank(**sizes)
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
        m.submodules.bank = bank = VisitedBank(**self._sizes)
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


CASES: dict[str, tuple[Callable[[], wiring.Component], Chooser, dict[str, int]]] = {
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
}


STATIONS: dict[str, tuple[Callable[[], wiring.Component], Chooser, dict[str, int]]] = {
    f"{kernels} kernels": (partial(Stationed, **sizes), demanding, sizes)
    for kernels, depth in ((1, 4), (6, 64), (16, 64))
    for sizes in ({"kernels": kernels, "depth": depth},)
}
"""Components of which there is a single instance."""


def ports(component: wiring.Component, *, inputs: bool) -> dict[str, int]:
    """Return widths of the inputs or outputs by name."""
    members = {"_".join(map(str, path)): member for path, member, _ in component.signature.flatten(component)}
    return {
        name: len(signal) for name, (signal, _) in port_names(component).items() if (members[name].flow == In) == inputs
    }


@cache
def simulated(
    case: str,
) -> tuple[list[list[dict[str, int]]], list[list[dict[str, int]]], list[dict[str, list[int]]]]:
    """Simulate an instance for each lane; return inputs and outputs by cycle and lane, and the last state by lane."""
    make, choose, sizes = (CASES | STATIONS)[case]
    instances = [make() for _ in range(LANES)]
    top = Module()
    for lane, instance in enumerate(instances):
        top.submodules[f"lane{lane}"] = instance
    simulator = Simulator(top)
    simulator.add_clock(1e-6)
    outputs = ports(instances[0], inputs=False)
    pins = [{name: Value.cast(signal) for name, (signal, _) in port_names(each).items()} for each in instances]
    given: list[list[dict[str, int]]] = []
    seen: list[list[dict[str, int]]] = []
    states: list[dict[str, list[int]]] = []

    async def bench(context: Any) -> None:
        def show(lane: int) -> dict[str, int]:
            return {name: context.get(pins[lane][name]) for name in outputs}

        randoms = [Random(lane) for lane in range(LANES)]
        kept: list[dict[str, Any]] = [{"sizes": sizes} for _ in instances]
        now = [show(lane) for lane in range(LANES)]
        for cycle in range(CYCLES):
            inputs = []
            for lane in range(LANES):
                # What is the same for all lanes.
                kept[lane] |= {"cycle": cycle, "shared": Random(cycle)}
                inputs.append({name: int(v) for name, v in choose(randoms[lane], now[lane], kept[lane]).items()})
                for name, value in inputs[-1].items():
                    context.set(pins[lane][name], value)
            await context.tick()
            now = [show(lane) for lane in range(LANES)]
            given.append(inputs)
            seen.append(now)
        rows = {register.name: [register.signal] for register in registers(simulator._design)}
        for memory in memories(simulator._design):
            rows[memory.name] = [Value.cast(memory.data[row]) for row in range(memory.depth)]
        for lane in range(LANES):
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


def driver(component: wiring.Component, source: str) -> str:
    """Return a program that reads the inputs of each cycle and prints the outputs, in the forms of the class."""
    body = []
    for name, width in ports(component, inputs=True).items():
        if f"Bits (&{name}())" in source:
            body.append(f"for (auto& lanes : part->{name}()) lanes = Bits(next());")
        elif name.startswith("entry"):
            body += [f"part->put_{name}_{word}(next());" for word in words(width)]
        elif width == 1:
            body.append(f"part->{name}(Bits(next()));")
        else:
            body += [
                f"for (auto& value : values) value = next(); part->put_{name}_{word}(values);" for word in words(width)
            ]
    body.append("part->tick();")
    for name, width in ports(component, inputs=False).items():
        if f"Bits (&{name}() const)" in source:
            body.append(f"for (auto& lanes : part->{name}()) show(lanes);")
        elif width == 1:
            body.append(f"show(part->{name}());")
        else:
            body += [
                f"part->get_{name}_{word}(values); for (auto value : values) show(value);" for word in words(width)
            ]
    return READER + DRIVER.replace("CYCLES", str(CYCLES)).replace("BODY", "\n".join(body))


def single_driver(component: wiring.Component) -> str:
    """Return the same program for a single instance with pins."""
    body = [f"part->{name} = next();" for name in ports(component, inputs=True)]
    body.append("part->tick();")
    for name in ports(component, inputs=False):
        if name.startswith("block"):
            number, _, kind = name.removeprefix("block").partition("_")
            station = f"part->station().block{'s' if kind == 'valid' else f'[{number}]'}"
            body.append(f"show({station}{f' >> {number} & 1' if kind == 'valid' else ''});")
        else:
            body.append(f"show(part->{name});")
    return READER + SINGLE_DRIVER.replace("CYCLES", str(CYCLES)).replace("BODY", "\n".join(body))


def compile_driver(text: str, source: str, target: Any, folder: Path) -> Callable[[list[int]], list[str]]:
    """Compile a program with a class; return a function that runs it and returns all outputs, and the state by lane."""
    (folder / "part.h").write_text(source)
    (folder / "driver.cpp").write_text(text)
    include = ("-I", str(NATIVE), "-I", str(SHARED))
    command = [*target.compiler, "-std=c++20", "-O1", *include, "driver.cpp", "-o", "driver"]
    subprocess.run(command, cwd=folder, check=True)

    def run(numbers: list[int]) -> list[str]:
        given = " ".join(f"{value:x}" for value in numbers)
        result = subprocess.run(
            [*target.runner, folder / "driver"], input=given, capture_output=True, text=True, check=True
        )
        return result.stdout.split("\nlane")

    return run


def in_forms(component: wiring.Component, source: str, values: list[dict[str, int]], *, inputs: bool) -> list[int]:
    """Return what lanes have at their ports, in the order in which the program reads or prints it."""
    found = []
    for name, width in ports(component, inputs=inputs).items():
        each = [lane[name] for lane in values]
        if f"Bits (&{name}()" in source or width == 1:
            found += [sum((value >> place & 1) << lane for lane, value in enumerate(each)) for place in range(width)]
        elif name.startswith("entry"):
            found += [each[0] >> 64 * word & (1 << 64) - 1 for word in words(width)]
        else:
            found += [value >> 64 * word & (1 << 64) - 1 for word in words(width) for value in each]
    return found


@pytest.mark.parametrize("processor", ["native", "x86-64-v3", "skylake-avx512", "x86-64-v2", "plain"])
@pytest.mark.parametrize("case", CASES)
def test_primitives_do_what_the_hardware_does(case: str, processor: str, tmp_path: Path) -> None:
    target = find_processor(processor)
    make = CASES[case][0]
    given, seen, states = simulated(case)
    shared = [name for name in ports(make(), inputs=True) if name.startswith("entry")]
    source = lanes_source(describe(make()), name="Part_", lanes=LANES, shared=shared, fifos=True)
    assert "primitives.h" in source
    run = compile_driver(driver(make(), source), source, target, tmp_path)
    shown, *left = run([value for lanes in given for value in in_forms(make(), source, lanes, inputs=True)])
    got = iter(int(word, 16) for word in shown.split())
    for cycle, lanes in enumerate(seen):
        wanted = in_forms(make(), source, lanes, inputs=False)
        assert [next(got) for _ in wanted] == wanted, f"cycle {cycle}"
    assert [parsed(lines, like) for lines, like in zip(left, states, strict=True)] == states


@pytest.mark.parametrize("processor", ["native", "x86-64-v3", "skylake-avx512", "x86-64-v2", "plain"])
@pytest.mark.parametrize("case", ["1 kernels", "6 kernels", pytest.param("16 kernels", marks=pytest.mark.long)])
def test_stations_do_what_the_hardware_does(case: str, processor: str, tmp_path: Path) -> None:
    target = find_processor(processor)
    component = STATIONS[case][0]()
    given, seen, states = simulated(case)
    source = single_source(describe(component), name="Part_")
    assert "slot_station.h" in source
    run = compile_driver(single_driver(component), source, target, tmp_path)
    for lane, state in enumerate(states):
        shown, left = run([lanes[lane][name] for lanes in given for name in ports(component, inputs=True)])
        got = iter(int(word, 16) for word in shown.split())
        for cycle, lanes in enumerate(seen):
            assert {name: next(got) for name in ports(component, inputs=False)} == lanes[lane], f"cycle {cycle}"
        assert parsed(left, state) == state


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
