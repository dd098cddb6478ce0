"""The documentation lists the proofs as they are."""

import re
from pathlib import Path

from tests.formal.solve import PROVE
from tests.formal.table import PROOFS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formal.md"


def test_the_page_has_every_proof() -> None:
    found = re.findall(r"^\| `([\w-]+)` \| (.+?) \| (.+?) \| (\d+) \|$", PAGE.read_text(), re.MULTILINE)
    assert found == [
        (
            proof.name,
            proof.says,
            f"always ({proof.depth})" if proof.mode == PROVE else f"{proof.depth} cycles",
            str(len(proof.broken)),
        )
        for proof in PROOFS
    ]


def test_names_are_unique() -> None:
    names = [proof.name for proof in PROOFS]
    assert len(set(names)) == len(names)
