"""Building the compiled executor: hardware to Verilog, to C++, to a shared library, cached by all that goes in."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from amaranth.lib import wiring

from hw.config import AcceleratorConfig
from hw.shell import Shell
from hw.verilog import KERNEL_NAMES, kernel_verilog, shell_verilog
from sim.executors.cache import cached_library, cached_runtime, digest_sources
from sim.executors.compiled.lanes import lanes_source
from sim.executors.compiled.tick import tick_function
from sim.executors.compiled.verilated import state_functions
from sim.executors.tools import OnStep, Steps, Toolchain, workers

__all__ = ["build_library"]

_HERE = Path(__file__).parent

# Taken when the hardware is imported too: a file that changes later is not what this process builds.
_SOURCES = digest_sources(_HERE)


def build_library(config: AcceleratorConfig, *, waves: bool, on_step: OnStep | None = None) -> Path:
    """Return the shared library of a machine, built now if it is not in the cache.

    The environment may name other tools: ``VERILATOR``, ``CXX``.

    Parameters
    ----------
    config : AcceleratorConfig
        Sizes.
    waves : bool
        With waveforms: the kernels of a module are an object each, since lanes of one object cannot write any.
    on_step : callable, optional
        Told how the build goes on, see `sim.executors.tools.OnStep`; not at all where there is nothing to build.

    Raises
    ------
    BuildError
        A tool is missing or fails; with its output.
    """
    tools = Toolchain.find()
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
    """Build in a folder of its own; return the library there."""
    makers: dict[str, Callable[[], str]] = {"shell": lambda: shell_verilog(config, instrument=True)}
    kinds: dict[str, type[wiring.Component]] = {"shell": Shell}
    if waves:
        for kind, name in KERNEL_NAMES.items():
            makers[name] = partial(kernel_verilog, kind, config, instrument=True)
            kinds[name] = kind

    def verilate(name: str) -> Path:
        source = folder / f"{name}.v"
        with steps.step(f"{name} as C++"):
            verilog = makers[name]()
            source.write_text(verilog)
            trace = ["--trace-vcd", "--trace-structs"] if waves else []
            parts = tools.verilate([source], top=name, folder=folder, options=trace)
            text = "".join(f'#include "{part.name}"\n' for part in parts)
            if not waves:
                text += tick_function(f"V{name}", "".join(part.read_text() for part in parts))
            root = (folder / f"V{name}___024root.h").read_text()
            text += state_functions(kinds[name](config, instrument=True), name=name, root=root, verilog=verilog)
            unit = folder / f"all_{name}.cpp"
            unit.write_text(text)
        return unit

    def find_runtime() -> tuple[Path, list[str]]:
        with steps.step("Verilator's run time compiled"):
            return cached_runtime(tools, traced=waves)

    def write_lanes(kind: type[wiring.Component]) -> None:
        kernels = f"{KERNEL_NAMES[kind]}s"
        module = kernels.removesuffix("_kernels")
        with steps.step(f"{module} kernels as lanes"):
            component, name = kind(config, instrument=True), f"{module.capitalize()}Lanes"
            text = lanes_source(component, name=name, lanes=getattr(config, kernels))
            (folder / f"{module}_lanes.h").write_text(text)

    fixed = sorted((_HERE / "native").glob("*.cpp"))
    headers = () if waves else KERNEL_NAMES
    steps.expect(2 * len(makers) + len(headers) + len(fixed) + 2, "hardware as C++")
    with workers() as pool:
        found = pool.submit(find_runtime)
        written = pool.map(write_lanes, headers)
        units = list(pool.map(verilate, makers))
        list(written)
    runtime, flags = found.result()
    flags += ["-I", str(_HERE / "native")]
    return tools.compile_library([*units, *fixed], [runtime], folder=folder, flags=flags, steps=steps)
