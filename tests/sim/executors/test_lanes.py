"""Kernels side by side: lanes, slices of expressions, and the order of statements."""

import random
import subprocess
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from amaranth.hdl import Cat, Elaboratable, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

import cyscc.sim.executors
from cyscc.hw.config import PRESETS
from cyscc.sim.errors import BuildError
from cyscc.sim.executors.compiled.drawing import LOST
from cyscc.sim.executors.compiled.lanes import describe, lanes_source, single_source
from cyscc.sim.executors.compiled.lanes.schedule import NAME, scheduled
from cyscc.sim.executors.names import EXECUTORS
from cyscc.sim.machine import Machine
from cyscc.sim.observation.waves.signals import model_signals
from tests.sim.executors.outcomes import CROWD, TANGLE, Outcome, assert_equal, outcome
from tests.sim.executors.toolchain import find_processor
from tests.sim.observation.waves.reading import recording, unread
from tests.system.runs import made

SHARED = Path(cyscc.sim.executors.__path__[0]) / "native"
NATIVE = SHARED.parent / "compiled" / "native"

CYCLES = 300

DRIVER = """
#include "mixed.h"
#include <cstdio>
#include <memory>
using namespace cyscc;
int main() {{
    auto mixed = std::make_unique<Mixed>();
    alignas(64) uint64_t values[{lanes}];
    unsigned long long value;
    for (int cycle = 0; cycle < {cycles}; ++cycle) {{
{body}
    }}
}}
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
                m.d.sync += self.chosen[3:12].eq(~b)
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


def ports(component: wiring.Component) -> list[tuple[str, int, bool]]:
    """Return name, width and whether it is an input, of each port."""
    return [
        (str(path[0]), len(value), member.flow == In) for path, member, value in component.signature.flatten(component)
    ]


def expected_outputs(stimuli: list[list[dict[str, int]]]) -> list[list[dict[str, int]]]:
    """Simulate an instance for each lane; return the outputs after each cycle, as [cycle][lane]."""
    instances = [Mixed() for _ in stimuli[0]]
    top = Module()
    top.submodules += instances
    simulator = Simulator(top)
    simulator.add_clock(1e-6)
    outputs = [name for name, _, is_input in ports(instances[0]) if not is_input]
    seen: list[list[dict[str, int]]] = []

    async def bench(context: Any) -> None:
        for inputs in stimuli:
            for instance, values in zip(instances, inputs, strict=True):
                for name, value in values.items():
                    context.set(getattr(instance, name), value)
            await context.tick()
            seen.append([{name: context.get(getattr(each, name)) for name in outputs} for each in instances])

    simulator.add_testbench(bench)
    simulator.run()
    return seen


def driver(lanes: int) -> str:
    """Return a program that reads inputs lane by lane and prints outputs, a word at a time, by scalars or vectors."""
    body = []
    for name, width, is_input in ports(Mixed()):
        words = [f"{name}_{word}" for word in range(-(-width // 64))]
        if width == 1 and is_input:
            read = 'if (std::scanf("%llx", &value) != 1) return 1; mask |= Bits(value) << lane;'
            body.append(
                f"{{ Bits mask = 0; for (int lane = 0; lane < {lanes}; ++lane) {{ {read} }} mixed->{name}(mask); }}"
            )
        elif is_input:
            for number, word in enumerate(words):
                scan = 'if (std::scanf("%llx", &value) != 1) return 1;'
                if number:
                    body.append(f"for (int n = 0; n < {lanes}; ++n) {{ {scan} mixed->put_{word}(n, value); }}")
                else:
                    body.append(f"for (uint64_t& v : values) {{ {scan} v = value; }} mixed->put_{word}(values);")
    body.append("mixed->tick();")
    for name, width, is_input in ports(Mixed()):
        if is_input:
            continue
        for number in range(-(-width // 64)):
            show = f'for (int n = 0; n < {lanes}; ++n) std::printf("%llx ", (unsigned long long)('
            if width == 1:
                body.append(f"{show}mixed->{name}() >> n & 1));")
            elif number:
                body.append(f"{show}mixed->get_{name}_{number}(n)));")
            else:
                body.append(f"mixed->get_{name}_{number}(values); {show}values[n]));")
    return DRIVER.format(lanes=lanes, cycles=CYCLES, body="\n".join(body))


def driver_of_pins() -> str:
    """Return the same program for a single instance with pins."""
    body: list[str] = []
    for name, width, is_input in ports(Mixed()):
        if is_input:
            body.append("unsigned long long low, high = 0;" if not body else "high = 0;")
            body += [f'if (std::scanf("%llx", &{word}) != 1) return 1;' for word in ("low", "high")[: -(-width // 64)]]
            body.append(f"set(mixed->{name}, low, high);")
    body.append("mixed->tick();")
    for name, width, is_input in ports(Mixed()):
        if not is_input:
            body += [
                f'std::printf("%llx ", (unsigned long long)(get(mixed->{name}, {word})));'
                for word in range(-(-width // 64))
            ]
    return DRIVER.format(lanes=1, cycles=CYCLES, body="\n".join(body))


@pytest.mark.parametrize(
    ("lanes", "processor"),
    [
        *((lanes, "native") for lanes in (0, 1, 11, 16)),  # 0: a single instance with pins
        (16, "x86-64-v3"),  # AVX2
        (16, "skylake-avx512"),  # the first with AVX-512, without what later ones added
        (16, "x86-64-v2"),  # SSE4.2
        (11, "plain"),  # as on a processor of another make
        *(
            pytest.param(*other, marks=pytest.mark.long)
            for other in ((8, "native"), (3, "x86-64-v3"), (16, "aarch64"), (5, "aarch64"))
        ),
    ],
)
def test_every_lane_computes_what_the_hardware_does(tmp_path: Path, lanes: int, processor: str) -> None:
    target = find_processor(processor)
    source = partial(lanes_source, lanes=lanes) if lanes else single_source
    program = driver(lanes) if lanes else driver_of_pins()
    lanes = lanes or 1
    random = Random(lanes)
    shape = ports(Mixed())
    inputs = [(name, width) for name, width, is_input in shape if is_input]
    outputs = [(name, width) for name, width, is_input in shape if not is_input]
    stimuli = [
        [{name: random.getrandbits(width) for name, width in inputs} for _ in range(lanes)] for _ in range(CYCLES)
    ]
    (tmp_path / "mixed.h").write_text(source(describe(Mixed()), name="Mixed"))
    (tmp_path / "driver.cpp").write_text(program)
    command = [
        *target.compiler,
        "-std=c++20",
        "-O1",
        *("-I", str(NATIVE), "-I", str(SHARED)),
        "driver.cpp",
        "-o",
        "driver",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    given = [
        f"{values[name] >> 64 * word & (1 << 64) - 1:x}"
        for cycle in stimuli
        for name, width in inputs
        for word in range(-(-width // 64))
        for values in cycle
    ]
    result = subprocess.run(
        [*target.runner, tmp_path / "driver"], input=" ".join(given), capture_output=True, text=True, check=True
    )
    words = iter(int(word, 16) for word in result.stdout.split())
    for number, wanted in enumerate(expected_outputs(stimuli)):
        got = [dict.fromkeys((name for name, _ in outputs), 0) for _ in range(lanes)]
        for name, width in outputs:
            for word in range(-(-width // 64)):
                for lane in range(lanes):
                    got[lane][name] |= next(words) << 64 * word
        assert got == wanted, f"cycle {number}"


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


@pytest.mark.parametrize("memory", ["hc2", "fixed:700"])
@pytest.mark.parametrize(
    "config", ["test", *(pytest.param(full, marks=pytest.mark.long) for full in ("published-bfs-1ae", "hc2"))]
)
def test_waveforms_change_nothing(config: str, memory: str, tmp_path: Path) -> None:
    outcomes = []
    # With waveforms nothing is left out, and the lanes are built otherwise.
    for waves in (None, tmp_path / "run.fst"):
        with made(config, memory, waves=waves, scopes=("engine0.shell.data__valid",) if waves else ()) as machine:
            searches = PRESETS[config].bfs_only
            outcomes.append(outcome(machine, CROWD if searches else TANGLE, source=0 if searches else None))
    assert_equal(*outcomes)


CONFIGS = {
    "switch": PRESETS["test"].replace(link_queues=4, memory_ports=4),
    "fast-test": PRESETS["fast-test"],
    "published": PRESETS["test"].replace(bfs_only=True, issue_interval=2, blocking_reservation=True),
}

machines = pytest.mark.parametrize("kind", CONFIGS)


def run_on(machine: Machine) -> Outcome:
    """Search a graph, or find its components if the machine can."""
    return outcome(machine, TANGLE, source=0 if machine.config.bfs_only else None)


@machines
def test_executors_show_the_same(kind: str, tmp_path: Path) -> None:
    shown, left = {}, []
    for executor in EXECUTORS:
        file = tmp_path / f"{executor}.vcd"
        with made(CONFIGS[kind], "hc2", executor=executor, waves=file, cycle_limit=100_000) as machine:
            left.append(run_on(machine))
        shown[executor] = recording(file).changes
    assert_equal(*left)
    ours, theirs = shown["compiled"], shown["amaranth"]
    common = ours.keys() & theirs.keys()
    assert [path for path in sorted(common) if not unread(path) and ours[path] != theirs[path]] == []
    assert sum(len(ours[path]) > 5 for path in common) > 200
    # No signal is lost but those that are known.
    places = [path for paths in model_signals(CONFIGS[kind]).values() for path in paths]
    lost = {".".join(path[2:]) for path in places if path not in ours}
    assert [name for name in lost if not any(fnmatchcase(name, glob) for glob in LOST)] == []


@machines
def test_library_with_waveforms_has_the_same_state(kind: str, tmp_path: Path) -> None:
    with made(CONFIGS[kind], "hc2") as plain, made(CONFIGS[kind], "hc2", waves=tmp_path / "run.vcd") as shown:
        ours, theirs = (machine.save().hardware for machine in (plain, shown))
    assert {name: field for name, (_, field) in ours.places.items()} == {
        name: field for name, (_, field) in theirs.places.items()
    }


@machines
def test_window_shows_what_a_run_drawn_from_its_start_does(kind: str, tmp_path: Path) -> None:
    first, last = (500, 900) if CONFIGS[kind].bfs_only else (1700, 2300)
    shown, left = [], []
    for file, window in ((tmp_path / "whole.fst", (0, last)), (tmp_path / "part.fst", (first, last))):
        with made(CONFIGS[kind], "hc2", waves=file, wave_window=window, cycle_limit=100_000) as machine:
            left.append(run_on(machine))
        shown.append(recording(file).changes)
    with made(CONFIGS[kind], "hc2", cycle_limit=100_000) as machine:
        left.append(run_on(machine))
    for each in left[1:]:
        assert_equal(left[0], each)
    whole, part = shown
    for path, changes in whole.items():
        before = [value for time, value in changes if time <= first]
        assert part[path] == [(first, before[-1]), *(change for change in changes if change[0] > first)], path
    assert sum(len(changes) > 1 for changes in part.values()) > 100


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
