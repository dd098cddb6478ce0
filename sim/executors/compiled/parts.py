"""Separately compiled parts of a machine, shared between configurations, and the library linked from them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from amaranth.back import rtlil
from amaranth.lib import wiring

from cyscc.hw.config import AcceleratorConfig
from cyscc.hw.exchange.exchange_slice import ExchangeSlice
from cyscc.hw.exchange.wires import PLANES
from cyscc.hw.shell import Shell
from cyscc.hw.switch.switch import Switch, SwitchSizes
from cyscc.hw.verilog import KERNEL_NAMES, exchange_verilog, kernel_verilog, port_names, shell_verilog, switch_verilog
from cyscc.sim.caching.tools import SLOW, OnStep, Steps, Toolchain, workers
from cyscc.sim.executors.cache import (
    cached,
    cached_library,
    cached_runtime,
    digest_sources,
    fixed_headers,
    machine_headers,
    write_headers,
)
from cyscc.sim.executors.compiled.exchange_wires import exchange_pins, exchange_wires
from cyscc.sim.executors.compiled.lanes import Description, describe, lanes_source, single_source
from cyscc.sim.executors.compiled.switch_wires import switch_ports, switch_wires
from cyscc.sim.executors.compiled.verilated import (
    flattened_verilog,
    nameless_state_functions,
    state_functions,
    tick_function,
)
from cyscc.sim.executors.samples import fifos

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
    steps : int
        Steps of its build.
    """

    def __init__(
        self, name: str, config: AcceleratorConfig, headers: dict[str, str], *, waves: bool, steps: int
    ) -> None:
        self.name = name
        self._headers = headers
        self.steps = steps
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
                steps.skip(self.steps, f"{title} built before")
            return to

        return find

    @abstractmethod
    def inputs(self) -> str:
        """Return the text of everything it is built from, except headers and the sources of this package."""

    @abstractmethod
    def _build(self, folder: Path, tools: Toolchain, steps: Steps) -> Path:
        """Build in a folder; return the object file."""

    def _verilate(
        self,
        component: wiring.Component | None,
        verilog: str,
        folder: Path,
        tools: Toolchain,
        *,
        name: str,
        more: str = "",
    ) -> list[Path]:
        """Verilate a component; return the C++ sources, the first of which has further text appended.

        Parameters
        ----------
        component : wiring.Component or None
            The component, by whose names its state is listed; None if the Verilog does not have them.
        verilog : str
            Its Verilog.
        folder : Path
            Target folder.
        tools : Toolchain
            Provides Verilator.
        name : str
            Name of its module.
        more : str
            The text to append, which may use the whole model.
        """
        source = folder / f"{name}.v"
        source.write_text(verilog)
        trace = ["--trace-vcd", "--trace-structs"] if self._waves else []
        parts = tools.verilate([source], top=name, folder=folder, options=trace)
        # Compiling them in two pieces is much faster than one by one, or all with the same options.
        units = folder / f"{name}.cpp", folder / f"{name}{SLOW}.cpp"
        slow = [part for part in parts if part.stem.endswith(SLOW)]
        texts = [
            "".join(f'#include "{part.name}"\n' for part in each)
            for each in ([part for part in parts if part not in slow], slow)
        ]
        if not self._waves:
            texts[0] += tick_function(f"V{name}", "".join(part.read_text() for part in parts))
        root = (folder / f"V{name}___024root.h").read_text()
        texts[0] += (
            nameless_state_functions(name)
            if component is None
            else state_functions(component, name=name, root=root, verilog=verilog)
        )
        texts[0] += more
        for unit, text in zip(units, texts, strict=True):
            unit.write_text(text)
        return list(units)

    def _compile(self, units: Sequence[Path], folder: Path, tools: Toolchain, steps: Steps) -> Path:
        """Compile sources to one object file."""
        flags = [*tools.verilated_runtime(traced=self._waves)[1], "-I", str(_NATIVE)]
        objects = tools.compile_objects(units, folder=folder, flags=flags, steps=steps)
        combined = folder / "combined.o"
        tools.link(objects, combined, whole=False)
        return combined


class _Engine(Part):
    """The shell, its wiring to the kernels, and the machine of several AEs."""

    def __init__(self, config: AcceleratorConfig) -> None:
        super().__init__("engine", config, machine_headers(config), waves=False, steps=2)

    @cached_property
    def _description(self) -> Description:
        return describe(Shell(self._config, instrument=True))

    def inputs(self) -> str:
        return self._description.text

    def _build(self, folder: Path, tools: Toolchain, steps: Steps) -> Path:
        with steps.step("shell as C++"):
            (folder / "shell.h").write_text(single_source(self._description, name="Shell"))
        (compiled,) = tools.compile_objects([_machine(folder)], folder=folder, flags=["-I", str(_NATIVE)], steps=steps)
        return compiled


class _TracedEngine(Part):
    """The same with the shell as a Verilated model."""

    def __init__(self, config: AcceleratorConfig) -> None:
        super().__init__("engine", config, machine_headers(config), waves=True, steps=4)
        self._shell = Shell(config, instrument=True)

    def inputs(self) -> str:
        return _text(self._shell, "shell")

    def _build(self, folder: Path, tools: Toolchain, steps: Steps) -> Path:
        with steps.step("shell as C++"):
            verilog = shell_verilog(self._config, instrument=True)
            units = self._verilate(self._shell, verilog, folder, tools, name="shell")
        return self._compile([*units, _machine(folder)], folder, tools, steps)


class _Lanes(Part):
    """The kernels of a module as lanes of one object."""

    def __init__(self, module: str, config: AcceleratorConfig) -> None:
        super().__init__(f"{module}-kernels", config, fixed_headers(), waves=False, steps=2)
        self._module = module
        self._class = f"{module.capitalize()}Lanes"
        self._kernels = getattr(config, f"{module}_kernels")
        self._exchanges = module == "bfs" and config.exchange_kernels > 0
        further = ", LaneExchange<ExchangeSlices, ExchangeWires>" if self._exchanges else ""
        made = f"new LaneModule<{self._class}, {len(fifos(config)[module])}{further}>"
        self._maker = _maker(module, "", made, includes=(f"{module}_lanes.h", "lane_module.h"))

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
            text = lanes_source(self._description, name=self._class, lanes=self._kernels, shared=["drained"])
            if self._exchange:
                ids = [f"{plane}{kernel}" for plane in PLANES for kernel in range(self._kernels)]
                text += lanes_source(self._exchange, name="ExchangeSlices", lanes=self._kernels, shared=ids)
                text += exchange_wires(self._kernels)
            (folder / f"{self._module}_lanes.h").write_text(text)
        unit = folder / f"{self._module}_kernels.cpp"
        unit.write_text(self._maker)
        (compiled,) = tools.compile_objects([unit], folder=folder, flags=["-I", str(_NATIVE)], steps=steps)
        return compiled


class _Switch(Part):
    """The slices of an AE's switch as lanes of two objects, and the wires between them."""

    def __init__(self, config: AcceleratorConfig) -> None:
        super().__init__("switch", config, fixed_headers(), waves=False, steps=2)
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
                lanes_source(description, name=name, lanes=self._lanes[name], shared=shared[name], fifos=True)
                for name, description in self._descriptions.items()
            ]
            texts.append(switch_wires(sizes, kernels="KernelSlices", links="LinkSlices"))
        unit = folder / "switch.cpp"
        made = "Switch* make_switch() { return new LaneSwitch<KernelSlices, LinkSlices, Wires>; }"
        text = "\n".join((*texts, '#include "lane_switch.h"', "namespace cyscc {", made, "}", ""))
        unit.write_text(text.replace("#pragma once\n", ""))
        (compiled,) = tools.compile_objects([unit], folder=folder, flags=["-I", str(_NATIVE)], steps=steps)
        return compiled


class _TracedSwitch(Part):
    """The same as one object of a Verilated model, which writes waveforms."""

    def __init__(self, config: AcceleratorConfig) -> None:
        super().__init__("switch", config, fixed_headers(), waves=True, steps=3)
        self._sizes = SwitchSizes.of(config)
        self._switch = Switch(self._sizes, instrument=True)

    def inputs(self) -> str:
        return _text(self._switch, "switch")

    def _build(self, folder: Path, tools: Toolchain, steps: Steps) -> Path:
        made = (
            '#include "object_switch.h"',
            switch_ports(self._sizes, model="Vswitch"),
            "namespace cyscc {",
            "Switch* make_switch(VerilatedContext* context, const std::string& name) {",
            "return new ObjectSwitch<Vswitch, Ports>(context, name);",
            "}",
            "}  // namespace cyscc\n",
        )
        with steps.step("switch as C++"):
            verilog = switch_verilog(self._config, instrument=True)
            units = self._verilate(self._switch, verilog, folder, tools, name="switch", more="\n".join(made))
        return self._compile(units, folder, tools, steps)


class _Objects(Part):
    """The kernels of a module as separate objects of a Verilated model, made for waveforms or only for speed."""

    def __init__(self, module: str, config: AcceleratorConfig, *, waves: bool) -> None:
        super().__init__(f"{module}-objects", config, fixed_headers(), waves=waves, steps=3)
        self._module = module
        self._kind = _KINDS[module]
        self._kernel = self._kind(config, instrument=True)
        kernels = getattr(config, f"{module}_kernels")
        sizes = f"V{module}_kernel, {kernels}, {len(fifos(config)[module])}"
        given = "context, place" if waves else "undrawn(), {}"
        includes = ["object_module.h"]
        self._slice = ExchangeSlice(kernels=kernels) if module == "bfs" and config.exchange_kernels else None
        if self._slice is not None:
            self.steps += 3
            includes += ["Vexchange_slice.h", "exchange_pins.h", "object_exchange.h"]
            sizes += f", ObjectExchange<Vexchange_slice, {kernels}, ExchangePins>"
            beside = 'context, place.substr(0, place.rfind(".")) + ".exchange"' if waves else "undrawn(), std::string()"
            given += f", {beside}"
        parameters = "VerilatedContext* context, const std::string& place" if waves else ""
        self._maker = _maker(module, parameters, f"new ObjectModule<{sizes}>({given})", includes=includes)

    def inputs(self) -> str:
        exchange = _text(self._slice, "exchange_slice") if self._slice else ""
        return _text(self._kernel, KERNEL_NAMES[self._kind]) + exchange + self._maker

    def _build(self, folder: Path, tools: Toolchain, steps: Steps) -> Path:
        name = KERNEL_NAMES[self._kind]
        slices: list[Path] = []
        if self._slice is not None:
            with steps.step("exchange slice as C++"):
                verilog = exchange_verilog(self._config)
                slices = self._verilate(self._slice, verilog, folder, tools, name="exchange_slice")
            (folder / "exchange_pins.h").write_text(
                "\n".join(
                    (
                        "namespace cyscc {",
                        "class Inventory;",
                        "void list(Vexchange_slice& model, Inventory& inventory);",
                        "void reevaluate(Vexchange_slice& model);",
                        "" if self._waves else "void tick(Vexchange_slice& model);",
                        "}  // namespace cyscc",
                        exchange_pins(self._config.exchange_kernels),
                    )
                )
            )
        with steps.step(f"{self._module} kernel as C++"):
            if self._waves:
                verilog = kernel_verilog(self._kind, self._config, instrument=True)
                units = self._verilate(self._kernel, verilog, folder, tools, name=name, more=self._maker)
            else:
                verilog = flattened_verilog(_text(self._kernel, name), name=name, folder=folder)
                units = self._verilate(None, verilog, folder, tools, name=name, more=self._maker)
        return self._compile([*units, *slices], folder, tools, steps)


def parts_of(config: AcceleratorConfig, *, waves: bool, objects: bool = False) -> list[Part]:
    """Return the parts of a machine, the slowest to build first.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    waves : bool
        With waveforms.
    objects : bool
        Each kernel is an object of its own even without waveforms.
    """
    parts: list[Part] = [
        _Objects(module, config, waves=waves) if waves or objects else _Lanes(module, config) for module in _KINDS
    ]
    if config.link_queues:
        parts.append(_TracedSwitch(config) if waves else _Switch(config))
    return [*parts, _TracedEngine(config) if waves else _Engine(config)]


def _machine(folder: Path) -> Path:
    """Write the source of all but models and kernels, one unit since its parts share most headers; return its path."""
    unit = folder / "machine.cpp"
    unit.write_text("".join(f'#include "{source}"\n' for source in sorted(_NATIVE.glob("*.cpp"))))
    return unit


def _text(component: wiring.Component, name: str) -> str:
    """Return the RTLIL of a component, which identifies its hardware and all names."""
    text: str = rtlil.convert(component, name=name, ports=port_names(component), emit_src=False)
    return text


def _maker(module: str, parameters: str, made: str, *, includes: Sequence[str]) -> str:
    """Return C++ code that creates the kernels of a module, see ``kernels.h``."""
    return "\n".join(
        (
            *(f'#include "{name}"' for name in includes),
            "namespace cyscc {",
            f"Kernels* make_{module}_kernels({parameters}) {{ return {made}; }}",
            "}  // namespace cyscc\n",
        )
    )


# Computed when the hardware is imported: this process does not build later changes of the files.
_SOURCES = digest_sources()


def build_library(
    config: AcceleratorConfig, *, waves: bool, objects: bool = False, on_step: OnStep | None = None
) -> Path:
    """Return the shared library of a machine, built now if it is not in the cache.

    The environment variables ``VERILATOR`` and ``CXX`` select other tools.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    waves : bool
        With waveforms: each kernel is then an object of its own, since lanes cannot write waveforms.
    objects : bool
        Each kernel is an object of its own even without waveforms: for comparison with lanes.
    on_step : callable, optional
        Progress callback, see `cyscc.sim.caching.tools.OnStep`; not called if there is nothing to build.

    Raises
    ------
    BuildError
        A tool is missing or fails; with its output.
    """
    tools = Toolchain.find(verilator=waves or objects)
    return cached_library(
        "machine",
        config,
        tools,
        parts=(waves, objects),
        sources=_SOURCES,
        build=lambda folder: _build(config, folder, waves=waves, objects=objects, tools=tools, steps=Steps(on_step)),
        on_step=on_step,
    )


def _build(
    config: AcceleratorConfig, folder: Path, *, waves: bool, objects: bool, tools: Toolchain, steps: Steps
) -> Path:
    """Build the library in a folder; return its path."""
    parts = parts_of(config, waves=waves, objects=objects)
    modelled = waves or objects
    steps.expect(sum(part.steps for part in parts) + modelled + 1, "hardware described")

    def find_runtime() -> Path:
        with steps.step("Verilator's run time compiled"):
            return cached_runtime(tools, traced=waves)[0]

    with workers() as pool:
        jobs = [pool.submit(find_runtime)] if modelled else []
        # The next part is elaborated while tools build the one before.
        jobs += [pool.submit(part.find(tools, steps, sources=_SOURCES), folder / f"{part.name}.o") for part in parts]
        compiled = [job.result() for job in jobs]
    library = folder / "machine.so"
    with steps.step("machine linked"):
        tools.link(compiled, library)
    return library
