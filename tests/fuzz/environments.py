"""Faults of the environment: each is tried on a small run, which must end with one clear line and leave nothing."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import IO

from cyscc.hw.config import PRESETS
from cyscc.sim.caching.folder import usable_cache
from cyscc.sim.executors.compiled.parts import build_library
from tests.fuzz.commands import run_cyscc
from tests.fuzz.search import Finding, Part

ROOT = Path(__file__).resolve().parents[2]
_HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 300


@dataclass
class Scene:
    """A run to disturb: of a small graph, on a small machine, with a filled cache.

    Attributes
    ----------
    folder : Path
        Where it runs; it holds the graph ``g.txt``.
    cache, temporary : Path
        Its cache, and its folder for temporary files, both outside of that.
    environment : dict
        Its environment.
    arguments : list of str
        Its command line.
    limits : dict
        Limits by their number in `resource`.
    stdout, stderr : str
        Where these go: ``pipe``, ``full``, ``closed``, or ``broken`` for a pipe that nobody reads.
    disturb : callable, optional
        Done to it while it waits for its graph, which then is a pipe, or when it has got it.
    fed : bool
        Whether it gets its graph before.
    """

    folder: Path
    cache: Path
    temporary: Path
    environment: dict[str, str]
    arguments: list[str]
    limits: dict[int, int] = field(default_factory=dict)
    stdout: str = "pipe"
    stderr: str = "pipe"
    disturb: Callable[["subprocess.Popen[bytes]"], None] | None = None
    fed: bool = False

    @classmethod
    def make(cls, folder: Path) -> "Scene":
        """Make one in a folder that is empty."""
        cache, temporary, place = folder / "cache", folder / "temporary", folder / "place"
        for made in (cache, temporary, place):
            made.mkdir(mode=0o700)
        (place / "g.txt").write_text("0 1\n1 0\n1 2\n")
        machine = ["--config", "test", "--memory", "fixed:75"]
        # What nobody has built and compiled yet, the run would.
        undisturbed = run_cyscc("scc", str(place / "g.txt"), *machine, "--quiet")
        assert undisturbed.status == 0, undisturbed
        library = build_library(PRESETS["test"], waves=False)
        others = (path for kind in _OTHERS for path in usable_cache().glob(f"{kind}-*"))
        for file in (library, library.with_suffix(".json"), *others):
            shutil.copy2(file, cache)
        environment = {name: value for name, value in os.environ.items() if name not in ("CXX", "NUMBA_CACHE_DIR")}
        environment |= {"CYSCC_CACHE": str(cache), "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}
        return cls(place, cache, temporary, environment, ["scc", "g.txt", *machine, "--json", "out.json"])

    def run(self) -> tuple[int, str]:
        """Run it; return its status and its standard error."""
        graph = self.folder / "g.txt"
        content = graph.read_bytes() if graph.is_file() else b""
        if self.disturb is not None:
            graph.unlink()
            os.mkfifo(graph)
        process = subprocess.Popen(
            [sys.executable, "-m", "cyscc.host.command_line.main", *self.arguments],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=self._prepare,
        )
        with process:
            try:
                if self.disturb is not None:
                    with _pipe_into(process, graph) as pipe:
                        if self.fed:
                            pipe.write(content)
                            pipe.close()
                        self.disturb(process)
                        if not self.fed:
                            process.wait(_PATIENCE)
                _, err = process.communicate(timeout=_PATIENCE)
            finally:
                process.kill()
        return process.returncode, err.decode(errors="replace")

    def _prepare(self) -> None:
        for number in _HEARD:
            # Whoever runs this in the background may have signals ignored, which children inherit.
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        for descriptor, where in ((1, self.stdout), (2, self.stderr)):
            if where == "full":
                os.dup2(os.open("/dev/full", os.O_WRONLY), descriptor)
            elif where == "closed":
                os.close(descriptor)
            elif where == "broken":
                reader, writer = os.pipe()
                os.close(reader)
                os.dup2(writer, descriptor)
        for limit, value in self.limits.items():
            resource.setrlimit(limit, (value, value))


def _pipe_into(process: "subprocess.Popen[bytes]", path: Path) -> IO[bytes]:
    """Open a pipe as soon as a process reads it, which may end without."""
    while process.poll() is None:
        with suppress(OSError):
            return open(os.open(path, os.O_WRONLY | os.O_NONBLOCK), "wb")
        time.sleep(0.005)
    return open(os.devnull, "wb")


@dataclass(frozen=True)
class Fault:
    """A fault of the environment.

    Parameters
    ----------
    spoil : callable
        Brings it about.
    status : int
        How the run must end.
    line : str
        Part of the only line on standard error; empty where there must be none.
    late : bool
        Whether it may come too late, and the run end as if there were none.
    """

    spoil: Callable[[Scene], object]
    status: int = 0
    line: str = ""
    late: bool = False


def run_fault(fault: "Fault", folder: Path) -> list[str]:
    """Inject a fault; return the errors in the run's outcome, one line each.

    Parameters
    ----------
    fault : Fault
        The fault.
    folder : Path
        An empty folder to do it in.
    """
    scene = Scene.make(folder)
    fault.spoil(scene)
    return _wrong(scene, fault)


def _wrong(scene: Scene, fault: Fault) -> list[str]:
    """Run, and return the errors in the outcome."""
    before = set(scene.folder.iterdir())
    status, err = scene.run()
    if fault.late and status == 0:
        fault = Fault(fault.spoil)
    wrong = []
    if status != fault.status:
        wrong.append(f"status {status} instead of {fault.status}: {err}")
    if err.count("\n") != bool(fault.line) or fault.line not in err:
        wrong.append(f"standard error is {err!r} instead of a line with {fault.line!r}")
    expected = before | ({scene.folder / "out.json"} if status in (0, 141) or fault.line in _AFTER_ALL else set())
    left = {path.name for path in set(scene.folder.iterdir()) - expected}
    left |= {path.name for path in expected - before if not path.exists()}
    left |= {path.name for path in scene.folder.glob(".*")}
    left |= {path.name for path in (*scene.cache.glob("build-*"), *scene.cache.rglob(".*"))}
    if scene.temporary.exists():
        left |= {path.name for path in scene.temporary.iterdir()}
    return wrong + [f"left or missing: {name}" for name in sorted(left)]


def _limit(number: int, value: int) -> Callable[[Scene], object]:
    return lambda scene: scene.limits.update({number: value})


def _stream(name: str, where: str) -> Callable[[Scene], object]:
    return lambda scene: setattr(scene, name, where)


def _variable(name: str, value: str) -> Callable[[Scene], object]:
    return lambda scene: scene.environment.update({name: value})


def _signals(*numbers: int, pause: float | None = None) -> Callable[[Scene], object]:
    """Send signals while the run waits for its graph, or some seconds after it was read."""

    def send(process: "subprocess.Popen[bytes]") -> None:
        time.sleep(pause or 0)
        for number in numbers:
            process.send_signal(number)

    def spoil(scene: Scene) -> None:
        scene.disturb, scene.fed = send, pause is not None

    return spoil


def _kept(kind: str, damage: Callable[[Path], object]) -> Callable[[Scene], object]:
    """Damage the libraries of a kind, one of which the run needs."""

    def spoil(scene: Scene) -> None:
        for library in scene.cache.glob(f"{kind}-*.so"):
            damage(library)

    return spoil


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _small_waves(scene: Scene) -> None:
    """Allow files that are too small for the head of waveforms, which the writer maps into memory."""
    # An executor with waveforms, whose files are larger, is there.
    library = build_library(PRESETS["test"], waves=True)
    for file in (library, library.with_suffix(".json")):
        shutil.copy2(file, scene.cache)
    scene.arguments += ["--waves", "w.fst"]
    scene.limits[resource.RLIMIT_FSIZE] = 30 << 10


_OTHERS = ("memory", "loops")
"""Kinds of libraries that every run needs besides the executor's."""

_PLAIN = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}


def _plain_locale(scene: Scene) -> None:
    """Run a command that reads sources, which have more than ASCII, and prints tables."""
    (scene.folder / "kept").mkdir()
    scene.arguments = ["reproduce", "li-fig3", "--vertices", "16", "-o", "kept", "--json", "out.json"]
    scene.environment |= _PLAIN


def _odd_name(scene: Scene) -> None:
    name = os.fsdecode(b"odd \xff name.txt")
    (scene.folder / "g.txt").rename(scene.folder / name)
    scene.arguments[1] = name
    scene.environment |= _PLAIN


_FULL = "standard output: cannot be written: No space left on device"
_CLOSED = "standard output: cannot be written: Bad file descriptor"
_AFTER_ALL = (_FULL, _CLOSED)
"""Messages of runs whose files are complete, and only standard output could not be written."""

_MB = 1 << 20

FAULTS = {
    "none": Fault(lambda scene: None),
    "standard output full": Fault(_stream("stdout", "full"), 2, _FULL),
    "standard output closed": Fault(_stream("stdout", "closed"), 2, _CLOSED),
    "standard output that nobody reads": Fault(_stream("stdout", "broken"), 141),
    "standard error full": Fault(_stream("stderr", "full")),
    "standard error closed": Fault(_stream("stderr", "closed")),
    "address space of 300 MB": Fault(_limit(resource.RLIMIT_AS, 300 * _MB), 2, "300 MiB of address space (ulimit -v)"),
    "address space of 900 MB": Fault(_limit(resource.RLIMIT_AS, 900 * _MB), 2, "900 MiB of address space (ulimit -v)"),
    "address space of 2 GB": Fault(_limit(resource.RLIMIT_AS, 2048 * _MB)),
    "data of 500 MB": Fault(_limit(resource.RLIMIT_DATA, 500 * _MB), 2, "500 MiB of data (ulimit -d)"),
    "16 open files": Fault(_limit(resource.RLIMIT_NOFILE, 16)),
    "10 open files": Fault(_limit(resource.RLIMIT_NOFILE, 10), 3, "Too many open files"),
    "6 open files": Fault(_limit(resource.RLIMIT_NOFILE, 6), 2, "Too many open files"),
    "files of no size": Fault(_limit(resource.RLIMIT_FSIZE, 0), 2, "out.json: cannot be written: File too large"),
    "no room for the head of waveforms": Fault(_small_waves, 2, "w.fst: File too large: the waveforms cannot be"),
    "no folder for temporary files": Fault(_variable("TMPDIR", "/nonexistent")),
    "another hash seed": Fault(_variable("PYTHONHASHSEED", "1234")),
    "no compiler": Fault(_variable("PATH", "/nonexistent")),
    "compiler that is named and missing": Fault(_variable("CXX", "g++-0"), 3, "C++ compiler 'g++-0' not found"),
    "limit of the cache that is no size": Fault(_variable("CYSCC_CACHE_LIMIT", "much")),
    "plain locale and a name that is no text": Fault(_odd_name),
    "plain locale": Fault(_plain_locale),
    "compiler that is no command": Fault(_variable("CXX", "g++ '"), 3, "is no command: No closing quotation"),
    "SIGINT": Fault(_signals(signal.SIGINT), 130, "cyscc scc: interrupted"),
    "SIGTERM": Fault(_signals(signal.SIGTERM), 130, "cyscc scc: interrupted"),
    "SIGHUP": Fault(_signals(signal.SIGHUP), 130, "cyscc scc: interrupted"),
    "SIGTERM twice, as timeout sends it": Fault(
        _signals(signal.SIGTERM, signal.SIGTERM), 130, "cyscc scc: interrupted"
    ),
    "empty memory": Fault(_kept("memory", lambda path: path.write_bytes(b"")), 0, "it is empty: built again"),
    "damaged memory": Fault(_kept("memory", _flip), 0, "it is damaged: built again"),
    "loops that others may write": Fault(_kept("loops", lambda path: path.chmod(0o666)), 0, "others may write it"),
    "no memory": Fault(_kept("memory", Path.unlink)),
}
"""By name."""

_MOMENT = "a signal at some moment"
_MOMENTS = 0.4
"""Seconds from when the graph was read in which a signal comes; the run takes about as long."""


@dataclass(frozen=True)
class Trouble:
    """A fault that is drawn.

    Parameters
    ----------
    fault : str
        One of `FAULTS`, or a signal at some moment.
    number : int
        The signal.
    pause : float
        Its moment.
    """

    fault: str
    number: int = 0
    pause: float = 0.0


def draw(chance: Random) -> Trouble:
    """Draw a fault, or a signal."""
    if chance.randrange(20) < 8:
        return Trouble(_MOMENT, chance.choice([*_HEARD, signal.SIGKILL]), _MOMENTS * chance.random())
    return Trouble(chance.choice(sorted(FAULTS)))


def examine(trouble: Trouble, folder: Path) -> Finding:
    """Try a fault."""
    if trouble.fault != _MOMENT:
        wrong = run_fault(FAULTS[trouble.fault], folder)
    elif trouble.number != signal.SIGKILL:
        send = _signals(trouble.number, pause=trouble.pause)
        wrong = run_fault(Fault(send, 130, "cyscc scc: interrupted", late=True), folder)
    else:
        wrong = _run_after_kill(trouble.pause, folder)
    return Finding("wrong end", False, f"{trouble.fault}: {'; '.join(wrong)}") if wrong else Finding("as told", True)


def _run_after_kill(pause: float, folder: Path) -> list[str]:
    """Kill a run; return the errors of the next one, which must remove its remains."""
    scene = Scene.make(folder)
    graph = scene.folder / "g.txt"
    content = graph.read_bytes()
    _signals(signal.SIGKILL, pause=pause)(scene)
    status, err = scene.run()
    if status not in (-signal.SIGKILL, 0) or err:
        return [f"status {status} after a kill: {err}"]
    graph.unlink()
    graph.write_bytes(content)
    scene.disturb = None
    (scene.folder / "out.json").unlink(missing_ok=True)
    return _wrong(scene, FAULTS["none"])


ENVIRONMENTS = Part("environments", 3, 900, draw, examine)
"""The part."""
