"""Builds of the compiled executor: errors are one line, and parts are built once."""

import fcntl
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from cyscc.hw.config import PRESETS, AcceleratorConfig
from cyscc.sim.caching.folder import cache_directory, remove_temporary_cache
from cyscc.sim.errors import BuildError
from cyscc.sim.executors.compiled import parts
from cyscc.sim.executors.compiled.parts import build_library
from cyscc.sim.machine import create_machine
from cyscc.sim.memory import parse_profile
from tests.sim.executors.toolchain import Toolchain

TEST = PRESETS["test"]


def refusal() -> BuildError:
    """Make a machine of the small configuration; return why that fails."""
    with pytest.raises(BuildError) as caught:
        create_machine(TEST, parse_profile("fixed:9"))
    return caught.value


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (
            "no-such-compiler",
            "C++ compiler 'no-such-compiler' not found: install g++ or name one by the environment variable CXX",
        ),
        ("g++ '", '"g++ \'" in the environment variable CXX is no command: No closing quotation'),
        ("false", "false failed with status 1"),
        ("./compiler", "./compiler: Exec format error"),
    ],
)
def test_compilers_that_do_not_compile(
    command: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("compiler").write_bytes(b"\x00")
    Path("compiler").chmod(0o755)
    monkeypatch.setenv("CXX", command)
    assert str(refusal()) == message


@pytest.fixture
def empty_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build next to nothing for the hardware."""
    monkeypatch.setattr(parts, "single_source", lambda *_, **__: "")
    monkeypatch.setattr(parts, "lanes_source", lambda *_, **__: "")


@pytest.fixture
def small_hardware(empty_sources: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not describe it either: its description only tells one configuration from another."""
    monkeypatch.setattr(parts, "describe", lambda _: SimpleNamespace(text=""))


@pytest.mark.usefixtures("small_hardware")
def test_no_machine_needs_verilator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Toolchain.install(tmp_path, monkeypatch)
    monkeypatch.setenv("VERILATOR", "/nowhere/verilator")
    assert build_library(TEST, waves=False) != build_library(TEST, waves=True)


@pytest.mark.usefixtures("small_hardware")
def test_failing_compiler_is_quoted_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Toolchain.install(tmp_path, monkeypatch, failure="echo 'it is full of errors' >&2; exit 3")
    error = refusal()
    assert (str(error), error.diagnosis) == ("compiler failed with status 3", "it is full of errors")
    assert list(made.cache.iterdir()) == []


@pytest.mark.usefixtures("small_hardware")
def test_compiler_that_fails_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    made = Toolchain.install(tmp_path, monkeypatch, failure="exit 1")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1 << 10))
    assert str(refusal()).endswith(": No space left on device: the executor cannot be built there")
    assert capfd.readouterr().err.startswith(f"cyscc: {made.cache}: No space left on device: a temporary cache is used")
    remove_temporary_cache()


@pytest.mark.usefixtures("small_hardware")
def test_compiler_that_makes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Toolchain.install(tmp_path, monkeypatch, failure="exit 0")
    assert str(refusal()).startswith("compiler made no ")
    assert list(made.cache.iterdir()) == []


@pytest.mark.usefixtures("small_hardware")
def test_cache_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    Toolchain.install(tmp_path, monkeypatch)
    (tmp_path / "file").touch()
    cache = tmp_path / "file" / "cache"
    monkeypatch.setenv("CYSCC_CACHE", str(cache))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    library = build_library(TEST, waves=False)
    assert library.parent.parent == tmp_path
    assert library.exists()
    assert capfd.readouterr().err == (
        f"cyscc: {cache}: Not a directory: a temporary cache is used; CYSCC_CACHE names another folder\n"
    )
    remove_temporary_cache()
    assert not library.parent.exists()


def test_no_cache_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> str:
        raise OSError(20, "Not a directory")

    Toolchain.install(tmp_path, monkeypatch)
    (tmp_path / "file").touch()
    cache = tmp_path / "file" / "cache"
    monkeypatch.setenv("CYSCC_CACHE", str(cache))
    monkeypatch.setattr("cyscc.sim.caching.folder.tempfile.mkdtemp", refuse)
    with pytest.raises(BuildError) as caught:
        build_library(TEST, waves=False)
    assert str(caught.value) == (f"{cache}: Not a directory; and no temporary cache can be made: Not a directory")


@pytest.mark.usefixtures("small_hardware")
def test_what_was_built_is_used_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Toolchain.install(tmp_path, monkeypatch)
    library = build_library(TEST, waves=False)
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert build_library(TEST, waves=False) == library
    with pytest.raises(BuildError) as caught:
        build_library(TEST.replace(link_cycles=4), waves=False)
    assert str(caught.value).startswith("C++ compiler 'g++' not found: ")


def _piped(library: Path) -> None:
    library.unlink()
    os.mkfifo(library)


def _described(change: Callable[[str], str]) -> Callable[[Path], object]:
    """Return a function that changes the description of a library."""

    def damage(library: Path) -> None:
        description = library.with_suffix(".json")
        description.write_text(change(description.read_text()))

    return damage


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda library: library.write_bytes(b""), "it is empty"),
        (lambda library: library.write_bytes(b"a library"[:4]), "it is damaged"),
        (lambda library: library.write_bytes(b"b library"), "it is damaged"),
        (
            _described(lambda text: text.replace("machine-", "machine-of-another-")),
            "it is foreign: its description is of another",
        ),
        (lambda library: library.with_suffix(".json").unlink(), "it has no description"),
        (_described(lambda _: "{"), "its description is damaged"),
        (_described(lambda _: "[" * 100_000), "its description is damaged"),
        (lambda library: library.chmod(0o777), "others may write it (mode 777; chmod go-w mends that)"),
        pytest.param(
            lambda library: os.chown(library, 12345, -1),
            "it belongs to another user (12345)",
            marks=pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away"),
        ),
        (
            lambda library: library.symlink_to(library.rename(library.with_suffix(".elsewhere"))),
            "it cannot be read: Too many levels of symbolic links",
        ),
        (_piped, "it is no plain file"),
    ],
)
def test_damaged_library_is_built_again(
    damage: Callable[[Path], object],
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def make(config: AcceleratorConfig, folder: Path, **options: object) -> Path:
        (folder / "machine.so").write_text("a library")
        return folder / "machine.so"

    Toolchain.install(tmp_path, monkeypatch)
    monkeypatch.setattr(parts, "_build", make)
    library = build_library(TEST, waves=False)
    damage(library)
    assert build_library(TEST, waves=False) == library
    assert library.read_text() == "a library"
    assert capfd.readouterr().err == f"cyscc: {library}: {reason}: built again\n"
    assert build_library(TEST, waves=False) == library
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("small_hardware")
def test_interrupted_build_is_removed_by_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = Toolchain.install(tmp_path, monkeypatch)
    library = build_library(TEST, waves=False)
    before = set(tools.cache.iterdir())
    held = library.with_name("build-machine-0123456789abcdef-01234567")
    others = tools.cache / "build-release"
    for folder in (others, tools.cache / "build-abcdefgh", held, library.with_name(f"build-{library.stem}")):
        folder.mkdir()
        (folder / "part.o").touch()
    descriptor = os.open(held, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    build_library(TEST, waves=False)
    assert set(tools.cache.iterdir()) == {*before, held, others}
    os.close(descriptor)
    build_library(TEST, waves=False)
    assert not held.exists()
    assert others.exists()


def test_one_of_two_builds_and_the_other_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Path] = []
    begun, waiting = threading.Event(), threading.Event()

    def make(config: AcceleratorConfig, folder: Path, **options: object) -> Path:
        begun.set()
        assert waiting.wait(60)
        (folder / "machine.so").write_text("a library")
        built.append(folder)
        return folder / "machine.so"

    def tell(done: int, total: int, what: str) -> None:
        assert what == "waiting for another process, which builds the same"
        waiting.set()

    Toolchain.install(tmp_path, monkeypatch)
    monkeypatch.setattr(parts, "_build", make)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(build_library, TEST, waves=False)
        assert begun.wait(60)
        second = pool.submit(build_library, TEST, waves=False, on_step=tell)
        assert first.result() == second.result()
    assert len(built) == 1


@pytest.mark.usefixtures("small_hardware")
def test_what_was_built_once_is_built_again_only_when_it_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = Toolchain.install(tmp_path, monkeypatch)
    told: list[tuple[int, int, str]] = []
    library = build_library(TEST, waves=False, on_step=lambda *step: told.append(step))
    compilations, built = tools.compilations(), library.stat().st_mtime_ns
    assert library.parent == tools.cache
    # Describing each of two modules of kernels and the shell in C++, compiling it, and linking them.
    assert compilations == 4
    assert [step[:2] for step in told] == [(done, 7) for done in range(8)]
    assert told[-1][2] == "machine linked"
    assert build_library(TEST, waves=False, on_step=lambda *step: told.append(step)) == library
    assert (tools.compilations(), len(told)) == (compilations, 8)
    objects = {path.name.rpartition("-")[0].rpartition("-")[0]: path for path in tools.cache.glob("*.o")}
    assert sorted(objects) == ["bfs-kernels", "engine", "intersection-kernels"]
    assert set(tools.cache.iterdir()) == {
        each.with_suffix(s) for each in (library, *objects.values()) for s in (each.suffix, ".json")
    }
    assert library.stat().st_mtime_ns == built
    library.unlink()
    assert build_library(TEST, waves=False) == library
    # Its parts are still there.
    assert tools.compilations() == compilations + 1
    library.unlink()
    objects["engine"].write_bytes(b"damaged")
    objects["bfs-kernels"].write_bytes(b"damaged")
    assert build_library(TEST, waves=False) == library
    assert tools.compilations() == compilations + 1 + 3


NOT_BUILT = {
    "bfs": "bfs kernels built before",
    "intersection": "intersection kernels built before",
    "engine": "engine built before",
}


@pytest.mark.usefixtures("empty_sources")
def test_another_configuration_has_only_that_built_which_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = Toolchain.install(tmp_path, monkeypatch)
    build_library(TEST, waves=False)
    # What differs, and what is compiled for it: with its parts put together, and the machine linked.
    for part, compilations, changes in (
        ("bfs", 2, {"word_depth": 16}),
        ("intersection", 2, {"colour_depth": 16}),
        ("engine", 2, {"link_cycles": 4}),
    ):
        before = tools.compilations()
        told: list[tuple[int, int, str]] = []
        build_library(TEST.replace(**changes), waves=False, on_step=lambda *step, told=told: told.append(step))
        assert tools.compilations() - before == compilations
        assert {step[2] for step in told} & set(NOT_BUILT.values()) == {
            NOT_BUILT[each] for each in NOT_BUILT.keys() - {part}
        }
        assert [step[0] for step in told] == sorted(step[0] for step in told)
        assert told[-1] == (7, 7, "machine linked")


@pytest.mark.usefixtures("empty_sources")
def test_builds_at_once_make_what_they_share_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = Toolchain.install(tmp_path, monkeypatch)
    with ThreadPoolExecutor(2) as pool:
        depths = pool.map(lambda depth: build_library(TEST.replace(word_depth=depth), waves=False), (16, 32))
        assert len(set(depths)) == 2
    # Of all but the BFS kernels and the machine there is one.
    assert tools.compilations() == 4 + 2
    assert len(list(tools.cache.glob("bfs-kernels-*.o"))) == 2
    assert len(list(tools.cache.glob("engine-*.o"))) == 1


def test_everything_that_matters_names_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(config: AcceleratorConfig, folder: Path, **options: object) -> Path:
        (folder / "machine.so").touch()
        return folder / "machine.so"

    tools = Toolchain.install(tmp_path, monkeypatch)
    monkeypatch.setattr(parts, "_build", make)
    libraries = [build_library(config, waves=False) for config in (TEST, TEST.replace(link_cycles=4))]
    libraries.append(build_library(TEST, waves=True))
    compiler = tmp_path / "compiler"
    compiler.write_text(compiler.read_text().replace("1.0", "1.1"))
    libraries.append(build_library(TEST, waves=False))
    assert len(set(libraries)) == 4
    assert set(tools.cache.glob("*.so")) == set(libraries)


def test_machine_is_made_at_once_when_it_was_built() -> None:
    for _ in range(2):
        machine = create_machine(TEST, parse_profile("fixed:9"))
        machine.close()
    assert machine.build_seconds < 2


@pytest.mark.parametrize(
    ("named", "place"),
    [
        ({"CYSCC_CACHE": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/a"),
        ({"CYSCC_CACHE": "", "XDG_CACHE_HOME": "/b", "HOME": "/c"}, "/b/cyscc"),
        ({"CYSCC_CACHE": "", "XDG_CACHE_HOME": "", "HOME": "/c"}, "/c/.cache/cyscc"),
    ],
)
def test_place_of_the_cache(named: dict[str, str], place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in named.items():
        monkeypatch.setenv(name, value)
    assert cache_directory() == Path(place)
