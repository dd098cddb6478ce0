"""Separately compiled parts of a machine, shared between configurations, and the library linked from them."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.exchange.exchange_slice import ExchangeSlice
from cyscc.hw.exchange.wires import PLANES
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
from cyscc.sim.executors.compiled.exchange_wires import exchange_wires
from cyscc.sim.executors.compiled.lanes import Description, describe, lanes_source, single_source
from cyscc.sim.executors.compiled.switch_wires import switch_wires
from cyscc.sim.executors.samples import fifos
from cyscc.sim.observation.waves import signals

_NATIVE = Path(__file__).parent / "native"

_KINDS = {name.removesuffix("_kernel"): kind for kind, name in KERNEL_NAMES.items()}
"""Kinds of kernels by module."""


class Part(ABC):
    """A part of a machine, compiled from the description of some hardware to an object file.

    Its sources are compiled in a folder with only those inputs of the configuration that are in its cache key.

    Parameters
    ----------
    name : str
        Its name.
    config : AcceleratorConfig
        Sizes.
    headers : dict of str to str
        The generated headers that it includes.
    waves : bool
        With waveforms.
    """

    STEPS: ClassVar[int] = 2
    """Steps of its build."""

    def __init__(self, name: str, config: AcceleratorConfig, headers: dict[str, str], *, waves: bool) -> None:
        self.name = name
        self._headers = headers
        self._config = config
        self._waves = waves

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
        hardware = self.inputs()
        title = self.name.replace("-", " ")

        def find(to: Path) -> Path:
            built = False

            def build(folder: Path) -> Path:
                nonlocal built
                built = True
                write_headers(self._headers, folder)
                return self._build(folder, tools, steps)

            cached(
                self.name,
                tools,
                inputs=repr((self._waves, hardware, self._headers)).encode() + sources,
                build=build,
                to=to,
                on_wait=lambda: steps.skip(0, f"waiting for another process, which builds the same {title}"),
            )
            if not built:
                steps.skip(self.STEPS, f"{title} built before")
            return to

        return find

    def _shown(self, kind: str) -> str | None:
        """Return a kind of instances if waveforms show them."""
        return kind if self._waves else None

    @abstractmethod
    def inputs(self) -> str:
        """Return the text of everything it is built from, except headers and the sources of this package."""

    @abstractmethod
    def _build(self, folder: Path, tools: Toolchain, steps: Steps) -> Path:
        """Build in a folder; return the object file."""


class _Engine(Part):
    """The shell, its wiring to the kernels, and the machine of several AEs."""

    def __init__(self, config: AcceleratorConfig, *, waves: bool) -> None:
        super().__init__("engine", config, machine_headers(config), waves=waves)

    @cached_property
    def _description(self) -> Description:
        return describe(Shell(self._config, instrument=True))

    def inputs(self) -> str:
        return self._description.text

    def _build(self, folder: Path, tools: Toolchain, steps: Steps) -> Path:
        with steps.step("shell as C++"):
            (folder / "shell.h").write_text(single_source(self._description, name="Shell", shown=self._shown("shell")))
        (compiled,) = tools.compile_objects([_machine(folder)], folder=folder, flags=["-I", str(_NATIVE)], steps=steps)
        return compiled


class _Lanes(Part):
    """The kernels of a module as lanes of one object."""

    def __init__(self, module: str, config: AcceleratorConfig, *, waves: bool) -> None:
        super().__init__(f"{module}-kernels", config, fixed_headers(), waves=waves)
        self._module = module
        self._class = f"{module.capitalize()}Lanes"
        self._kernels = getattr(config, f"{module}_kernels")
        self._exchanges = module == "bfs" and config.exchange_kernels > 0
        further = ", LaneExchange<ExchangeSlices, ExchangeWires>" if self._exchanges else ""
        made = f"new LaneModule<{self._class}, {len(fifos(config)[module])}{further}>"
        self._maker = "\n".join(
            (
                f'#include "{module}_lanes.h"',
                '#include "lane_module.h"',
                "namespace cyscc {",
                f"Kernels* make_{module}_kernels() {{ return {made}; }}",
                "}  // namespace cyscc\n",
            )
        )

    @cached_property
    def _description(self) -> Description:
        return describe(_KINDS[self._module](self._config, instrument=True))

    @cached_property
    def _exchange(self) -> Description | None:
        return describe(ExchangeSlice(kernels=self._kernels)) if self._exchanges else None

    def inputs(self) -> str:
        exchange = self._exchange.text if self._exchange else ""
        return repr((self._description.text, exchange, self._kernels, self._maker))

    def _build(self, folder: Path, tools: Toolchain, steps: Steps) -> Path:
        with steps.step(f"{self._module} kernels as lanes"):
            lanes = self._kernels
            shown = self._shown(self._module)
            text = lanes_source(self._description, name=self._class, lanes=lanes, shared=["drained"], shown=shown)
            if self._exchange:
                ids = [f"{plane}{kernel}" for plane in PLANES for kernel in range(self._kernels)]
                shown = self._shown("exchange")
                text += lanes_source(self._exchange, name="ExchangeSlices", lanes=lanes, shared=ids, shown=shown)
                text += exchange_wires(self._kernels)
            (folder / f"{self._module}_lanes.h").write_text(text)
        unit = folder / f"{self._module}_kernels.cpp"
        unit.write_text(self._maker)
        (compiled,) = tools.compile_objects([unit], folder=folder, flags=["-I", str(_NATIVE)], steps=steps)
        return compiled


class _Switch(Part):
    """The slices of an AE's switch as lanes of two objects, and the wires between them."""

    def __init__(self, config: AcceleratorConfig, *, waves: bool) -> None:
        super().__init__("switch", config, fixed_headers(), waves=waves)
        self._sizes = SwitchSizes.of(config)
        self._lanes = {"KernelSlices": config.bfs_kernels, "LinkSlices": config.ports}

    @cached_property
    def _descriptions(self) -> dict[str, Description]:
        slices = (self._sizes.kernel_slice(instrument=True), self._sizes.link_slice(instrument=True))
        return dict(zip(self._lanes, map(describe, slices), strict=True))

    def inputs(self) -> str:
        return repr((self._lanes, [description.text for description in self._descriptions.values()]))

    def _build(self, folder: Path, tools: Toolchain, steps: Steps) -> Path:
        sizes = self._sizes
        shared = {
            "KernelSlices": [f"answer{n}" for n in range(sizes.links)],
            "LinkSlices": [f"request{n}" for n in range(sizes.kernels)],
        }
        with steps.step("switch as lanes"):
            texts = [
                lanes_source(
                    description,
                    name=name,
                    lanes=self._lanes[name],
                    shared=shared[name],
                    # Waveforms show what is in them.
                    fifos=not self._waves,
                    shown=self._shown("switch"),
                )
                for name, description in self._descriptions.items()
            ]
            texts.append(switch_wires(sizes, kernels="KernelSlices", links="LinkSlices"))
        unit = folder / "switch.cpp"
        made = "Switch* make_switch() { return new LaneSwitch<KernelSlices, LinkSlices, Wires>; }"
        text = "\n".join((*texts, '#include "lane_switch.h"', "namespace cyscc {", made, "}", ""))
        unit.write_text(text.replace("#pragma once\n", ""))
        (compiled,) = tools.compile_objects([unit], folder=folder, flags=["-I", str(_NATIVE)], steps=steps)
        return compiled


def parts_of(config: AcceleratorConfig, *, waves: bool) -> list[Part]:
    """Return the parts of a machine, the slowest to build first.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    waves : bool
        With waveforms.
    """
    parts: list[Part] = [_Lanes(module, config, waves=waves) for module in _KINDS]
    if config.link_queues:
        parts.append(_Switch(config, waves=waves))
    return [*parts, _Engine(config, waves=waves)]


def _machine(folder: Path) -> Path:
    """Write the source of all but models and kernels, one unit since its parts share most headers; return its path."""
    unit = folder / "machine.cpp"
    unit.write_text("".join(f'#include "{source}"\n' for source in sorted(_NATIVE.glob("*.cpp"))))
    return unit


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
