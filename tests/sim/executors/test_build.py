"""Builds of the compiled executor: what goes wrong is one line, what was built once is not built again."""

from pathlib import Path

import pytest

from hw.config import PRESETS, AcceleratorConfig
from sim.caching.folder import cache_directory
from sim.errors import BuildError
from sim.executors.compiled import build
from sim.executors.compiled.build import build_library
from sim.machine import create_machine
from sim.memory import parse_profile
from tests.sim.executors.toolchain import Toolchain

TEST = PRESETS["test"]


def refusal() -> BuildError:
    """Make a machine of the small configuration; return why that fails."""
    with pytest.raises(BuildError) as caught:
        create_machine(TEST, parse_profile("fixed:9"))
    return caught.value


def test_missing_verilator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERILATOR", "/nowhere/verilator")
    assert str(refusal()) == "/nowhere/verilator: no such program, named by the environment variable VERILATOR"


def test_missing_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert str(refusal()) == (
        "C++ compiler 'no-such-compiler' not found: install g++ or name one by the environment variable CXX"
    )


def test_compiler_without_a_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "false")
    assert str(refusal()) == "false failed with status 1"


def test_program_that_cannot_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "compiler"
    compiler.write_bytes(b"\x00")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    assert str(refusal()) == f"{compiler}: Exec format error"


@pytest.fixture
def small_hardware(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build next to nothing for the hardware."""
    monkeypatch.setattr(build, "shell_verilog", lambda *_, **__: "module shell(input clk); endmodule")
    monkeypatch.setattr(build, "lanes_source", lambda *_, **__: "")


@pytest.mark.usefixtures("small_hardware")
def test_failing_compiler_is_quoted_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = Toolchain.install(tmp_path, monkeypatch, failure="echo 'it is full of errors' >&2; exit 3")
    error = refusal()
    assert (str(error), error.diagnosis) == ("compiler failed with status 3", "it is full of errors")
    assert list(tools.cache.iterdir()) == []


def test_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Toolchain.install(tmp_path, monkeypatch)
    (tmp_path / "file").touch()
    cache = tmp_path / "file" / "cache"
    monkeypatch.setenv("CYSCC_CACHE", str(cache))
    assert str(refusal()) == f"{cache}: Not a directory: the cache of built executors cannot be written"


@pytest.mark.usefixtures("small_hardware")
def test_what_was_built_once_is_built_again_only_when_it_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = Toolchain.install(tmp_path, monkeypatch)
    told: list[tuple[int, int, str]] = []
    library = build_library(TEST, waves=False, on_step=lambda *step: told.append(step))
    compilations, built = tools.compilations(), library.stat().st_mtime_ns
    assert library.parent == tools.cache
    assert compilations > 5
    # A model, two modules of lanes, and a step for each compilation, the last of which links.
    assert [step[:2] for step in told] == [(done, compilations + 3) for done in range(compilations + 4)]
    assert told[-1][2] == "machine linked"
    assert build_library(TEST, waves=False, on_step=lambda *step: told.append(step)) == library
    assert (tools.compilations(), len(told)) == (compilations, compilations + 4)
    assert list(tools.cache.iterdir()) == [library]
    assert library.stat().st_mtime_ns == built
    library.unlink()
    assert build_library(TEST, waves=False) == library
    assert tools.compilations() == 2 * compilations
    assert library.exists()


def test_everything_that_matters_names_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(config: AcceleratorConfig, folder: Path, **options: object) -> Path:
        (folder / "machine.so").touch()
        return folder / "machine.so"

    tools = Toolchain.install(tmp_path, monkeypatch)
    monkeypatch.setattr(build, "_build", make)
    libraries = [build_library(config, waves=False) for config in (TEST, TEST.replace(link_cycles=4))]
    libraries.append(build_library(TEST, waves=True))
    compiler = tmp_path / "compiler"
    compiler.write_text(compiler.read_text().replace("1.0", "1.1"))
    libraries.append(build_library(TEST, waves=False))
    assert len(set(libraries)) == 4
    assert set(tools.cache.iterdir()) == set(libraries)


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
