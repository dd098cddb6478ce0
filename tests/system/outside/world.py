"""The folder in which the command lines run: graphs, models, machines, records and checkpoints, good and bad."""

import gzip
import io
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from cyscc.host.command_line.main import main
from cyscc.host.output.documents import read_sealed, write_sealed
from tests.system.outside.normal import files_below

_SMALL = ("--config", "test", "--memory", "fixed:75", "--threads", "1", "--quiet")

_TEXTS: dict[str, str] = {
    **tomllib.loads(Path(__file__).with_name("world.toml").read_text()),
    "deep.toml": "a = " + "[" * 10_000,
    "bad-s-nested.toml": f"x = {'[' * 2000}{']' * 2000}\n",
    "bad-s-many.toml": 'config = "test"\ngraph = { vertices = 16, degree = 2, seed = 1 }\n'
    f"[grid]\nsource = {list(range(400))}\nqueue_slack = {list(range(400))}\n",
}


def run(argv: Sequence[str]) -> tuple[int, str, str]:
    """Run a command line in the current folder; return its exit status, standard output and standard error.

    By their descriptors, since compiled code and other processes write there as well.
    """
    saved = [os.dup(number) for number in (1, 2)]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            for number, file in ((1, out), (2, err)):
                os.dup2(file.fileno(), number)
            status = main(argv)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            for number, descriptor in zip((1, 2), saved, strict=True):
                os.dup2(descriptor, number)
                os.close(descriptor)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="backslashreplace"))
    return status, texts[0], texts[1]


def _gzipped(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)


def _saved(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _matrix() -> bytes:
    file = io.BytesIO()
    sparse.save_npz(file, sparse.csr_array(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])))
    return file.getvalue()


def _binaries() -> dict[str, bytes]:
    whole, matrix = _gzipped(_TEXTS["g.txt"]), _matrix()
    words = {"indices": np.array([0, 5]), "indptr": np.array([0, 1, 2]), "data": np.ones(2), "shape": np.array([2, 2])}
    return {
        "g.txt.gz": whole,
        "g.npz": matrix,
        "bad-cut.txt.gz": whole[:-12],
        "bad-bits.txt.gz": whole[:12] + bytes([whole[12] ^ 255]) + whole[13:],
        "bad-cut.npz": matrix[: len(matrix) // 2],
        "bad-none.npz": _saved(x=np.array([1])),
        "bad-layout.npz": _saved(format=np.array("dia"), **words),
        "bad-index.npz": _saved(format=np.array("csr"), **words),
        "bad-square.npz": _saved(format=np.array("csr"), **{**words, "shape": np.array([2, 3])}),
        "bad-shape.npz": _saved(format=np.array("csr"), **{**words, "shape": np.array([2])}),
        "bad-rise.npz": _saved(format=np.array("csr"), **{**words, "indptr": np.array([0, 2, 1])}),
        "bad-kind.npz": _saved(format=np.array("csr"), **{**words, "indices": np.array(["a", "b"])}),
        "latin.txt": "0 1 \xe4\n".encode("latin-1"),
        "bad-latin.toml": 'title = "\xe4"\n'.encode("latin-1"),
    }


_RUNS: tuple[tuple[str, ...], ...] = (
    ("scc", "g.txt", *_SMALL, "--record", "r-scc"),
    ("bfs", "g.txt", "--source", "10", "--config", "test", "--threads", "1", "--quiet", "--record", "r-bfs"),
    ("bfs", "g.txt", "--source", "14", *_SMALL, "--record", "r-slow"),
    ("bfs", "g.txt", "--source", "10", *_SMALL, "--waves", "run.vcd"),
)
"""Commands that make the valid records and waveforms."""

_KEPT = (*_SMALL, "--checkpoint-every", "1kcycles")
_FAILING: tuple[tuple[str, ...], ...] = (
    ("scc", "g.txt", *_KEPT, "--cycle-limit", "3000", "--checkpoint", "kept"),
    ("bfs", "g.txt", "--source", "10", *_KEPT, "--cycle-limit", "1150", "--checkpoint", "kept-bfs"),
    ("scc", "g.txt", *_SMALL, "--cycle-limit", "3000", "--record", "r-failed"),
)
"""Commands that make checkpoints and the record of a failed run, which reaches its cycle limit."""


class World:
    """The folder.

    Parameters
    ----------
    folder : Path
        Where it is made.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "world"
        self._store = folder / "store"
        self.path.mkdir()
        self._state: dict[str, tuple[int, int]] = {}

    def fill(self) -> None:
        """Create all files in the folder, which is the working folder of this process."""
        for name, text in _TEXTS.items():
            Path(name).write_text(text)
        for name, content in _binaries().items():
            Path(name).write_bytes(content)
        Path("empty").mkdir()
        Path("loop.txt").symlink_to("loop.txt")
        Path("endless.toml").symlink_to("/dev/zero")
        for argv in _RUNS:
            self._run(argv, 0)
        for argv in _FAILING:
            self._run(argv, 3)
        self._damage()
        shutil.copytree(self.path, self._store, symlinks=True)
        self._state = files_below(self.path)

    def _run(self, argv: tuple[str, ...], wanted: int) -> None:
        status, _, complaint = run(argv)
        if status != wanted:
            raise RuntimeError(f"{' '.join(argv)} ended with {status}, not with {wanted}: {complaint}")

    def _damage(self) -> None:
        """Make records and checkpoints that cannot be used."""

        def copied(source: str, name: str) -> Path:
            return Path(shutil.copytree(source, name))

        def changed(path: Path, **values: Any) -> None:
            write_sealed(path, {**read_sealed(path), **values})

        changed(copied("r-bfs", "r-newer") / "record.json", record=999)
        (copied("r-bfs", "r-text") / "record.json").write_text("this is text\n")
        (copied("r-bfs", "r-list") / "record.json").write_text("[]\n")
        (copied("r-bfs", "r-without") / "record.json").unlink()
        (copied("r-bfs", "r-missing") / "kernels.parquet").unlink()
        (copied("r-bfs", "r-table") / "kernels.parquet").write_text("this is text\n")
        (copied("r-bfs", "r-cut") / "instruction_kernels.parquet").write_bytes(b"PAR1")
        changed(copied("kept", "kept-newer") / "checkpoint.json", version=999)
        (copied("kept", "kept-text") / "checkpoint.json").write_text("this is text\n")
        (copied("kept", "kept-without") / "checkpoint.json").unlink()
        (copied("kept", "kept-more") / "notes").write_text("mine\n")
        for block in (copied("kept", "kept-blocks") / "blocks").iterdir():
            block.write_bytes(b"")

    def changes(self) -> list[str]:
        """Return the changes since the folder was filled: new paths, and removed or changed ones with a sign."""
        now = files_below(self.path)
        new = [path for path in now if path not in self._state]
        gone = [f"- {path}" for path in self._state if path not in now]
        other = [f"~ {path}" for path, state in self._state.items() if path in now and now[path] != state]
        return [*new, *gone, *other]

    def restore(self, changes: list[str]) -> None:
        """Restore the folder to its initial content."""
        if not changes:
            return
        if any(change.startswith(("- ", "~ ")) for change in changes):
            for entry in self.path.iterdir():
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                else:
                    entry.unlink()
            shutil.copytree(self._store, self.path, symlinks=True, dirs_exist_ok=True)
            self._state = files_below(self.path)
            return
        for change in sorted(changes, reverse=True):
            path = self.path / change
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
