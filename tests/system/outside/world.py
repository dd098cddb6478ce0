"""The folder in which the command lines run: graphs, models, machines, records and checkpoints, good and bad."""

import gzip
import io
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from cyscc.host.output.documents import read_sealed, write_sealed
from tests.system.outside.entry import run
from tests.system.outside.normal import files_below
from tests.system.outside.studies import STUDIES

_SMALL = ("--config", "test", "--memory", "fixed:75", "--threads", "1", "--quiet")

_TEXTS = {
    # Graphs.
    "g.txt": "10 11\n11 12\n12 10\n12 13\n13 13\n14 15\n15 14\n14 16\n16 17\n17 16\n15 16\n",
    "other.txt": "10 11\n11 12\n12 10\n12 13\n13 13\n14 15\n15 14\n14 16\n16 17\n17 16\n15 10\n",
    "tiny.txt": "0 1\n1 0\n",
    "twice.txt": "0 1\n0 1\n1 1\n1 0\n",
    "g.mtx": "%%MatrixMarket matrix coordinate pattern general\n% a note\n3 3 3\n1 2\n2 3\n3 1\n",
    "symmetric.mtx": "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 5\n3 2 7\n",
    "g.gr": "c a note\np sp 3 3\na 1 2 1\na 2 3 1\na 3 1 1\n",
    "weighted.txt": "# FromNodeId ToNodeId\n0\t1\t0.5\n1\t0\t0.5\n",
    "bad-empty.txt": "",
    "bad-note.txt": "# nothing\n",
    "bad-word.txt": "0 1\n1 x\n",
    "bad-one.txt": "0 1\n1\n",
    "bad-columns.txt": "0 1\n1 2 3\n",
    "bad-negative.txt": "0 -1\n",
    "bad-large.txt": "0 99999999999\n",
    "bad-nul.txt": "0 1\n\0\n",
    "bad-page.txt": "<!DOCTYPE html>\n<html>\n",
    "bad-banner.mtx": "matrix\n",
    "bad-kind.mtx": "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n",
    "bad-field.mtx": "%%MatrixMarket matrix coordinate quaternion general\n1 1 0\n",
    "bad-square.mtx": "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 2\n",
    "bad-range.mtx": "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 3\n",
    "bad-zero.mtx": "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n0 1\n",
    "bad-short.mtx": "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n",
    "bad-long.mtx": "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n2 1\n",
    "bad-sizes.mtx": "%%MatrixMarket matrix coordinate pattern general\n2 2\n",
    "bad-none.mtx": "%%MatrixMarket matrix coordinate pattern general\n0 0 0\n",
    "bad-header.gr": "a 1 2 1\n",
    "bad-problem.gr": "p max 3 3\n",
    "bad-count.gr": "p sp 3 x\n",
    "bad-minus.gr": "p sp -3 3\n",
    "bad-short.gr": "p sp 3 3\na 1 2 1\n",
    "bad-range.gr": "p sp 3 1\na 1 4 1\n",
    "bad-line.gr": "p sp 3 1\nq 1 2 1\n",
    "bad-plain.npz": "this is text\n",
    "bad-plain.txt.gz": "this is text\n",
    # Models.
    "m.tra": "3 5 7\n0 0 0 1 stay\n0 1 1 0.5 cross\n0 1 2 0.5 cross\n1 0 1 1\n1 1 0 1/2\n1 1 2 1/2\n2 0 2 1.0\n",
    "m.drn": "@type: MDP\n@parameters\n\n@reward_models\n\n@nr_states\n2\n@nr_choices\n2\n@model\nstate 0 init\n"
    "\taction 0\n\t\t1 : 1\nstate 1\n\taction 0\n\t\t0 : 0.5\n\t\t1 : 0.5\n",
    "bad-empty.tra": "",
    "bad-chain.tra": "2 2\n0 1 1\n1 0 1\n",
    "bad-sum.tra": "2 2 2\n0 0 1 0.9\n1 0 0 1\n",
    "bad-range.tra": "2 2 2\n0 0 2 1\n1 0 0 1\n",
    "bad-choice.tra": "2 2 2\n0 1 1 1\n1 0 0 1\n",
    "bad-short.tra": "2 2 3\n0 0 1 1\n1 0 0 1\n",
    "bad-long.tra": "2 2 1\n0 0 1 1\n1 0 0 1\n",
    "bad-word.tra": "2 2 2\n0 0 1 x\n1 0 0 1\n",
    "bad-state.tra": "2 2 1\n0 0 1 1\n",
    "bad-count.tra": "2 3 2\n0 0 1 1\n1 0 0 1\n",
    "bad-type.drn": "@type: DTMC\n@model\n",
    "bad-model.drn": "@type: MDP\n@nr_states\n1\n",
    "bad-states.drn": "@type: MDP\n@model\nstate 0\n\taction 0\n\t\t0 : 1\n",
    "bad-parameters.drn": "@type: MDP\n@parameters\np\n@nr_states\n1\n@model\n",
    "bad-interval.drn": "@type: MDP\n@nr_states\n1\n@model\nstate 0\n\taction 0\n\t\t0 : [0.4, 0.9]\n",
    "bad-key.drn": "@type: MDP\n@colour\n",
    "m.txt": "3 5 7\n",
    "s.tra": "1 1 1\n0 0 0 1\n",
    "s.sta": "(s)\n0:(0)\n",
    "bad.lab": '0="a"\n7: 0\n',
    # Machines and memories.
    "only.toml": 'preset = "test"\nbfs_only = true\n',
    "drops.toml": 'preset = "test"\nremembered_ids = 8\n',
    "bad-preset.toml": 'preset = "hc3"\n',
    "bad-key.toml": 'preset = "test"\nneighbour_dept = 16\n',
    "bad-value.toml": 'preset = "test"\nneighbour_depth = 20\n',
    "bad-type.toml": 'preset = "test"\nneighbour_depth = "20"\n',
    "bad-syntax.toml": "preset = \n",
    "deep.toml": "a = " + "[" * 10_000,
    "bad-kernels.toml": 'preset = "test"\nintersection_kernels = 3\n',
    "slow.toml": 'profile = "hc2"\nbank_busy = 20\n',
    "bad-memory-key.toml": 'profile = "hc2"\nbank_bus = 20\n',
    "bad-memory-value.toml": 'profile = "hc2"\nbank_busy = -1\n',
    "bad-memory-profile.toml": 'profile = "hc3"\n',
    "bad-memory-rules.toml": 'profile = "rules.py"\n',
    "rules.py": "x = 1\n",
    # Waveforms that are none.
    "plain.txt.d": "a file where a folder is wanted\n",
}


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
        for name, text in STUDIES.items():
            Path(name).write_text(text)
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
