"""Files that appear completely or not at all, documents, texts, and errors in one line."""

import errno
import fcntl
import io
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cyscc.host.experiments.plan.store import Store
from cyscc.host.output.documents import SEAL, read_document, read_sealed, sealed, write_sealed
from cyscc.host.output.errors import InputError
from cyscc.host.output.files import Content, check_folder, check_output, open_output, renamed_when_complete, show
from cyscc.host.output.text import bytes_text, count_text, device_text
from cyscc.host.record.writer import RecordFolder
from cyscc.host.runs.checkpoints.folder import CheckpointFolder
from cyscc.sim.notices import LONGEST_LINE, error_line, shortened
from tests.refusals import refused


def write_new(path: str) -> None:
    with open_output(path) as file:
        file.write(b"new")


def test_file_is_written_and_nothing_else_is_left(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    write_new(str(target))
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_what_was_there_stays_when_writing_fails(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")

    def fail() -> None:
        with open_output(str(target)) as file:
            file.write(b"half")
            raise OSError(28, "No space left on device")

    with refused(InputError, f"{target}: cannot be written: No space left on device"):
        fail()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_after_an_interrupt_nothing_is_left(tmp_path: Path) -> None:
    def fail() -> None:
        with renamed_when_complete(str(tmp_path / "run.svg")) as name:
            assert name.suffix == ".svg"
            name.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_permissions_of_what_is_replaced_stay(tmp_path: Path) -> None:
    target = tmp_path / "secret"
    target.write_text("old")
    target.chmod(0o600)
    write_new(str(target))
    assert target.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("command", ["write", "flush"])
def test_full_standard_output_is_named(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/full").open("w", buffering=1 if command == "write" else -1) as full:
        monkeypatch.setattr("sys.stdout", full)
        with pytest.raises(InputError, match=r"^standard output: cannot be written: No space left on device$"):
            show("a line\n") if command == "write" else write_new("-")
        # What is still in its buffer is not to be written when it is closed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())


@pytest.mark.parametrize(
    ("name", "content", "cause"),
    [
        ("a.xyz", Content.FIGURE, "a figure is .svg, .png or .pdf, not '.xyz'"),
        ("a.pdf", Content.PAGE, "a page is .html or .htm, not '.pdf'"),
        ("a.json.gz", Content.JSON, "a JSON document is .json, not '.gz'"),
        ("a.csv", Content.LIST, "a list is .txt, not '.csv'"),
        ("a.VCD", Content.TRACE, "a trace is .pftrace or .perfetto-trace, not '.VCD'"),
        ("a.html.gz", Content.GRAPH, "a graph is .mtx, .gr, .npz or .txt, not '.html'"),
    ],
)
def test_suffixes_promise_contents(name: str, content: Content, cause: str, tmp_path: Path) -> None:
    with refused(InputError, f"{tmp_path / name}: {cause}"):
        check_output(str(tmp_path / name), "-o", content)
    assert list(tmp_path.iterdir()) == []


def test_suffixes_that_promise_nothing_else(tmp_path: Path) -> None:
    for name, option in (("a", "--plot"), ("a.SVG", "--plot"), ("a.new", "--json"), ("a.txt", "--json")):
        check_output(str(tmp_path / name), option)
    for name in ("a.npz.gz", "a.gz", "a.edges", "a.txt"):
        check_output(str(tmp_path / name), "-o", Content.GRAPH)


def test_no_name() -> None:
    with refused(InputError, "--json names no file"):
        check_output("", "--json")
    with refused(InputError, "-o names no folder"):
        check_folder("", "-o")


def test_bytes_follow_the_text_before_them(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written))
    show("text\n")
    write_new("-")
    assert written.getvalue() == b"text\nnew"


def test_symbolic_link_stays_one(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_new(str(link))
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_pipe_is_written_in_place(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    check_output(str(pipe), "--labels")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_new(str(pipe))
    assert os.read(reader, 100) == b"new"
    os.close(reader)


def test_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / ("x" * 300))
    with refused(InputError, f"{path}: cannot be written: File name too long (--json)"):
        check_output(path, "--json")
    assert list(tmp_path.iterdir()) == []


def test_possible_file_is_not_touched(tmp_path: Path) -> None:
    check_output(str(tmp_path / "new"), "--json")
    assert list(tmp_path.iterdir()) == []
    check_output("-", "--json")


def test_folder_may_exist_or_be_made(tmp_path: Path) -> None:
    check_folder(str(tmp_path), "--output")
    check_folder(str(tmp_path / "new"), "--output")
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_behind_a_descriptor_is_written() -> None:
    reader, writer = os.pipe()
    path = f"/dev/fd/{writer}"
    check_output(path, "--json")
    with open_output(path) as file:
        file.write(b"whole")
    os.close(writer)
    with open(reader, "rb") as found:
        assert found.read() == b"whole"


@pytest.mark.parametrize(
    ("use", "option"),
    [
        (lambda path: RecordFolder(path, resumed=False), " (--record)"),
        (lambda path: CheckpointFolder(path, create=True), ""),
        (Store, " (--output)"),
    ],
)
def test_folder_that_cannot_be_locked_is_not_in_use(
    use: Callable[[Path], object], option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int, kind: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", fail)
    path = tmp_path / "out"
    with refused(InputError, f"{path}: cannot be locked: No locks available{option}"):
        use(path)
    assert list(tmp_path.iterdir()) == []


_DOCUMENT = {"name": "Größe \udcff", "values": [1, 2.5, None, True], "inner": {"b": 1, "a": 2}}


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write_sealed(tmp_path / "a.json", _DOCUMENT)
    assert read_sealed(tmp_path / "a.json") == _DOCUMENT


def test_another_layout_has_the_same_digest(tmp_path: Path) -> None:
    found = sealed(_DOCUMENT)
    (tmp_path / "a.json").write_text(json.dumps(dict(reversed(found.items()))))
    assert read_sealed(tmp_path / "a.json") == _DOCUMENT


def test_no_flipped_bit_changes_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_sealed(path, _DOCUMENT)
    content = path.read_bytes()
    refused = 0
    for bit in range(8 * len(content)):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        try:
            assert read_sealed(path) == _DOCUMENT
        except InputError:
            refused += 1
    assert refused > 7 * len(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[" * 100_000, "is not JSON: nested too deeply"),
        (b"1" * 5000, "is not JSON: Exceeds the limit"),
        (b'"\xff"', "is not JSON: 'utf-8' codec can't decode"),
        (b"", "is not JSON: Expecting value"),
        (b"[]", "is no JSON object"),
    ],
)
def test_what_is_no_document_is_refused_in_one_line(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"^{re.escape(f'{path}: {message}')}.*$"):
        read_document(path)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    write_sealed(tmp_path / "a.json", _DOCUMENT)
    (tmp_path / "b.json").symlink_to("a.json")
    with pytest.raises(InputError, match=r"is a link, which is not followed here$"):
        read_document(tmp_path / "b.json")


def test_a_document_without_a_digest_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(_DOCUMENT))
    with pytest.raises(InputError, match=f"is damaged, or of another version: it has no digest \\({SEAL}\\)$"):
        read_sealed(path)


def test_count_text() -> None:
    assert [count_text(number, "edge") for number in (0, 1, 2000)] == ["0 edges", "1 edge", "2,000 edges"]
    assert count_text(3, "vertex") == "3 vertices"
    assert [device_text("cpu", 2), device_text("an accelerator", 2)] == ["2 threads", "an accelerator"]


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "0.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (3_400_000_000, "3.4 GB"),
        (10**13, "10.0 TB"),
        (2 * 10**18, "2,000.0 PB"),
    ],
)
def test_bytes_text(number: int, expected: str) -> None:
    assert bytes_text(number) == expected


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [("", 3, ""), ("abcdef", 6, "abcdef"), ("abcdefg", 6, "ab...g"), ("abcdefgh", 7, "ab...gh"), ("abcd", 3, "...")],
)
def test_shortened(text: str, most: int, expected: str) -> None:
    assert shortened(text, most) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("g.txt:2: 'x' is wrong", "g.txt:2: 'x' is wrong"),
        ("a \n b\tc ", "a b c"),
        ("g\x1b[31m.txt\x00: \x7f é → \udcff", r"g\x1b[31m.txt\x00: \x7f é → \udcff"),
    ],
)
def test_error_line(text: str, expected: str) -> None:
    assert error_line(text) == expected


def test_a_long_name_is_cut_in_the_middle() -> None:
    line = error_line(f"cyscc scc: {'d/' * 200}g.txt: is empty")
    assert line == f"cyscc scc: {'d/' * 19}d...{'d/' * 16}g.txt: is empty"


@pytest.mark.parametrize("text", ["x" * 5000, "x " * 5000, f"{'long word ' * 99}: what is wrong", "\x1b" * 3000])
def test_no_error_line_is_longer_than_a_screen(text: str) -> None:
    line = error_line(text)
    assert len(line) <= LONGEST_LINE
    assert "..." in line
    assert line[-1] == error_line(text[-9:])[-1]


def test_an_input_error_names_its_place() -> None:
    assert str(InputError("is wrong")) == "is wrong"
    assert str(InputError("is wrong", path="a\nb")) == r"a\nb: is wrong"
    assert str(InputError("is wrong", path="g.txt", line=3)) == "g.txt:3: is wrong"
