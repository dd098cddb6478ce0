"""Building the compiled executor: a shared library of parts, all cached by what goes in."""

from pathlib import Path

from hw.config import AcceleratorConfig
from sim.executors.cache import cached_library, cached_runtime, digest_sources
from sim.executors.compiled.parts import parts_of
from sim.executors.tools import OnStep, Steps, Toolchain, workers

__all__ = ["build_library"]

# Taken when the hardware is imported too: a file that changes later is not what this process builds.
_SOURCES = digest_sources(Path(__file__).parent)


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
    parts = parts_of(config, waves=waves)
    steps.expect(sum(part.steps for part in parts) + 2, "hardware described")

    def find_runtime() -> Path:
        with steps.step("Verilator's run time compiled"):
            return cached_runtime(tools, traced=waves)[0]

    with workers() as pool:
        runtime = pool.submit(find_runtime)
        # The next is described while tools work on the one before.
        jobs = [pool.submit(part.find(tools, steps, sources=_SOURCES), folder / f"{part.name}.o") for part in parts]
        objects = [job.result() for job in jobs]
    library = folder / "machine.so"
    with steps.step("machine linked"):
        tools.link([*objects, runtime.result()], library)
    return library
