"""Separately compiled parts of a machine, shared between configurations, and the library linked from them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

from amaranth.hdl import Shape
from amaranth.lib.wiring import Component

from cyscc.hw.causes import Cause
from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.exchange.exchange_slice import ExchangeSlice
from cyscc.hw.exchange.wires import PLANES
from cyscc.hw.interfaces import FILL_WIDTH
from cyscc.hw.shell import Shell
from cyscc.hw.switch.switch import SwitchSizes
from cyscc.hw.verilog import KERNEL_NAMES
from cyscc.sim.caching.tools import OnStep, Steps, Toolchain, workers
from cyscc.sim.executors.cache import (
    cached,
    cached_library,
    digest_sources,
    fixed_headers,
    machine_headers,
    write_headers,
)
from cyscc.sim.executors.compiled.lanes import Description, describe, lanes_source, single_source
from cyscc.sim.executors.samples import fifos
from cyscc.sim.observation.waves import signals

_NATIVE = Path(__file__).parent / "native"

_KINDS = {name.removesuffix("_kernel"): kind for kind, name in KERNEL_NAMES.items()}
"""Kinds of kernels by module."""


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """A component of which there is a generated class.

    Parameters
    ----------
    make : callable
        Returns the component.
    kind : str
        Kind of its instances, as in their names in waveforms.
    lanes : int
        Its instances; 0 for a single one with pins as data members.
    options : dict
        Further arguments of `lanes_source`.
    """

    make: Callable[[], Component]
    kind: str
    lanes: int = 0
    options: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def description(self) -> Description:
        """The component as RTLIL."""
        return describe(self.make())

    def source(self, name: str, *, waves: bool) -> str:
        """Return the header of the class of some name."""
        shown = self.kind if waves else None
        if not self.lanes:
            return single_source(self.description, name=name, shown=shown)
        return lanes_source(self.description, name=name, lanes=self.lanes, shown=shown, **self.options)


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a machine, compiled from the description of some hardware to an object file.

    Its sources are compiled in a folder with only those inputs of the configuration that are in its cache key.

    Parameters
    ----------
    name, title : str
        Its name; what its build makes first.
    hardware : dict of str to Hardware
        What it is generated from, by name of the class.
    header, unit : str
        The file of all of these, and the one that includes it.
    source : str
        Text of the unit.
    headers : dict of str to str
        Further generated headers that it includes.
    waves : bool
        With waveforms.
    """

    STEPS: ClassVar[int] = 2
    """Steps of its build."""

    name: str
    title: str
    hardware: dict[str, Hardware]
    header: str
    unit: str
    source: str
    headers: dict[str, str]
    waves: bool

    def inputs(self) -> str:
        """Return the text of everything it is built from, except headers and the sources of this package."""
        classes = [(name, each.lanes, each.options, each.description.text) for name, each in self.hardware.items()]
        return repr((classes, self.source))

    def find(self, tools: Toolchain, steps: Steps, *, sources: bytes) -> Callable[[Path], Path]:
        """Return a function that copies the object file to a path, and builds it first if it is not in the cache.

        Parameters
        ----------
        tools : Toolchain
            Tools to build it with.
        steps : Steps
            Counts each step, performed or skipped.
        sources : bytes
            Digest of its sources.
        """
        inputs = repr((self.waves, self.inputs(), self.headers)).encode() + sources
        title = self.name.replace("-", " ")

        def find(to: Path) -> Path:
            built: list[Path] = []

            def build(folder: Path) -> Path:
                built.append(folder)
                return self.build(folder, tools, steps)

            waiting = f"waiting for another process, which builds the same {title}"
            cached(self.name, tools, inputs=inputs, build=build, to=to, on_wait=lambda: steps.skip(0, waiting))
            if not built:
                steps.skip(self.STEPS, f"{title} built before")
            return to

        return find

    def build(self, folder: Path, tools: Toolchain, steps: Steps) -> Path:
        """Build it in a folder; return the object file."""
        write_headers(self.headers, folder)
        with steps.step(self.title):
            texts = [each.source(name, waves=self.waves) for name, each in self.hardware.items()]
            (folder / self.header).write_text("".join(texts))
        unit = folder / self.unit
        unit.write_text(self.source)
        (compiled,) = tools.compile_objects([unit], folder=folder, flags=["-I", str(_NATIVE)], steps=steps)
        return compiled


def _engine(config: AcceleratorConfig, *, waves: bool) -> Part:
    """Return the shell, its wiring to the kernels, and the machine of several AEs."""
    return Part(
        name="engine",
        title="shell as C++",
        hardware={"Shell": Hardware(make=partial(Shell, config, instrument=True), kind="shell")},
        header="shell.h",
        unit="machine.cpp",
        # One unit, since they share most headers.
        source="".join(f"#include <{source.name}>\n" for source in sorted(_NATIVE.glob("*.cpp"))),
        headers=machine_headers(config),
        waves=waves,
    )


def _kernels(module: str, config: AcceleratorConfig, *, waves: bool) -> Part:
    """Return the kernels of a module as lanes of one object."""
    kernels = getattr(config, f"{module}_kernels")
    lanes = f"{module.capitalize()}Lanes"
    made = [lanes, str(len(fifos(config)[module]))]
    hardware = {
        lanes: Hardware(
            make=lambda: _KINDS[module](config, instrument=True),
            kind=module,
            lanes=kernels,
            options={"shared": ["drained"], "fields": {"cause": Shape.cast(Cause).width, "fill": FILL_WIDTH}},
        )
    }
    if module == "bfs" and config.exchange_kernels:
        made.append("LaneExchange<ExchangeSlices>")
        ids = [f"{plane}{kernel}" for plane in PLANES for kernel in range(kernels)]
        hardware["ExchangeSlices"] = Hardware(
            make=partial(ExchangeSlice, kernels=kernels), kind="exchange", lanes=kernels, options={"shared": ids}
        )
    return Part(
        name=f"{module}-kernels",
        title=f"{module} kernels as lanes",
        hardware=hardware,
        header=f"{module}_lanes.h",
        unit=f"{module}_kernels.cpp",
        source=_maker(
            f"{module}_lanes.h", "lane_module.h", f"Kernels* make_{module}_kernels()", f"LaneModule<{', '.join(made)}>"
        ),
        headers=fixed_headers(),
        waves=waves,
    )


def _switch(config: AcceleratorConfig, *, waves: bool) -> Part:
    """Return the slices of an AE's switch as lanes of two objects."""
    sizes = SwitchSizes.of(config)
    slices = {
        "KernelSlices": (sizes.kernel_slice, config.bfs_kernels, [f"answer{n}" for n in range(sizes.links)]),
        "LinkSlices": (sizes.link_slice, config.ports, [f"request{n}" for n in range(sizes.kernels)]),
    }
    return Part(
        name="switch",
        title="switch as lanes",
        hardware={
            name: Hardware(
                make=partial(make, instrument=True),
                kind="switch",
                lanes=lanes,
                # Waveforms show what is in FIFOs.
                options={"shared": shared, "fifos": not waves},
            )
            for name, (make, lanes, shared) in slices.items()
        },
        header="switch_lanes.h",
        unit="switch.cpp",
        source=_maker(
            "switch_lanes.h", "lane_switch.h", "Switch* make_switch()", "LaneSwitch<KernelSlices, LinkSlices>"
        ),
        headers=fixed_headers(),
        waves=waves,
    )


def _maker(header: str, further: str, function: str, made: str) -> str:
    """Return a unit with a function that makes an object of a generated class."""
    return f'#include "{header}"\n#include "{further}"\nnamespace cyscc {{\n{function} {{ return new {made}; }}\n}}\n'


def parts_of(config: AcceleratorConfig, *, waves: bool) -> list[Part]:
    """Return the parts of a machine, the slowest to build first.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    waves : bool
        With waveforms.
    """
    parts = [_kernels(module, config, waves=waves) for module in _KINDS]
    if config.link_queues:
        parts.append(_switch(config, waves=waves))
    return [*parts, _engine(config, waves=waves)]


# Computed when the hardware is imported: this process does not build later changes of the files.
_SOURCES = digest_sources() + Path(signals.__file__).read_bytes()


def build_library(config: AcceleratorConfig, *, waves: bool, on_step: OnStep | None = None) -> Path:
    """Return the shared library of a machine, built now if it is not in the cache.

    The environment variable ``CXX`` selects another compiler.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    waves : bool
        With waveforms.
    on_step : callable, optional
        Progress callback, see `cyscc.sim.caching.tools.OnStep`; not called if there is nothing to build.

    Raises
    ------
    BuildError
        The compiler is missing or fails; with its output.
    """
    tools = Toolchain.find(verilator=False)
    return cached_library(
        "machine",
        config,
        tools,
        parts=(waves,),
        sources=_SOURCES,
        build=lambda folder: _build(config, folder, waves=waves, tools=tools, steps=Steps(on_step)),
        on_step=on_step,
    )


def _build(config: AcceleratorConfig, folder: Path, *, waves: bool, tools: Toolchain, steps: Steps) -> Path:
    """Build the library in a folder; return its path."""
    parts = parts_of(config, waves=waves)
    steps.expect(sum(part.STEPS for part in parts) + 1, "hardware described")
    with workers() as pool:
        # The next part is elaborated while tools build the one before.
        jobs = [pool.submit(part.find(tools, steps, sources=_SOURCES), folder / f"{part.name}.o") for part in parts]
        compiled = [job.result() for job in jobs]
    library = folder / "machine.so"
    with steps.step("machine linked"):
        tools.link(compiled, library)
    return library
