"""Sealed documents: a changed value is noticed, another layout is not, and other files are refused in one line."""

import json
import re
from pathlib import Path

import pytest

from cyscc.host.output.documents import SEAL, read_document, read_sealed, sealed, write_sealed
from cyscc.host.output.errors import InputError

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
