"""Small documents: what is no plain file or too long is refused without reading it."""

import os
from pathlib import Path

import pytest

from cyscc.sim.documents import LONGEST_SETTING, DocumentError, read_plain, read_toml


def test_a_file_may_have_as_many_bytes_as_are_allowed(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"1234")
    assert read_plain(file, most=4) == b"1234"
    with pytest.raises(DocumentError, match=r"^is too long: it may have 3 bytes$"):
        read_plain(file, most=3)


def test_a_file_that_hides_its_size_is_limited_too() -> None:
    assert os.stat("/proc/self/status").st_size == 0
    with pytest.raises(DocumentError, match=r"^is too long: it may have 10 bytes$"):
        read_plain("/proc/self/status", most=10)


def test_devices_pipes_and_folders_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(DocumentError, match=r"^is no plain file$"):
            read_plain(path, most=10)
    with pytest.raises(IsADirectoryError):
        read_plain(tmp_path, most=10)


def test_links_are_followed_only_where_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_plain(tmp_path / "link", most=1) == b"1"
    with pytest.raises(DocumentError, match=r"^is a link, which is not followed here$"):
        read_plain(tmp_path / "link", most=1, follow=False)


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "file.toml").write_bytes(b'\xef\xbb\xbfpreset = "test"\n')
    assert read_toml(tmp_path / "file.toml") == {"preset": "test"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a = " + b"[" * 100_000, "not TOML: nested too deeply"),
        (b"a = \xff", "not TOML: 'utf-8' codec can't decode byte 0xff in position 4: invalid start byte"),
        (b"a", r"not TOML: .*"),
        (b"#" * (LONGEST_SETTING + 1), "is too long: it may have 1,048,576 bytes"),
    ],
)
def test_what_is_no_toml_is_refused_in_one_line(content: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "file.toml"
    file.write_bytes(content)
    with pytest.raises(DocumentError, match=f"^{message}$"):
        read_toml(file)
