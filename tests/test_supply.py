"""Lock files: exact versions and hashes, for every system, without the address of an index."""

import re
import tomllib

import pytest

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKS = {
    "requirements.lock": [
        *PROJECT["project"]["dependencies"],
        *PROJECT["project"]["optional-dependencies"]["dev"],
        *PROJECT["project"]["optional-dependencies"]["docs"],
        *PROJECT["project"]["optional-dependencies"]["cluster"],
        *PROJECT["project"]["optional-dependencies"]["search"],
    ],
    "requirements-fpga.lock": PROJECT["dependency-groups"]["fpga"],
    "requirements-supply.lock": PROJECT["dependency-groups"]["supply"],
}
PIN = re.compile(r"^([\w.-]+)==[\w.]+(?: ; [^\\]+)?(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n", re.MULTILINE)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_lock_is_made_and_audited() -> None:
    (line,) = re.findall("^LOCKS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(line.split()) == set(LOCKS) == {path.name for path in ROOT.glob("requirements*.lock")}


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_have_versions_and_hashes_and_nothing_else(lock: str) -> None:
    text = (ROOT / lock).read_text()
    rest = PIN.sub("", text)
    assert all(line.startswith("#") for line in rest.splitlines()), rest
    pinned = {normal(name) for name in PIN.findall(text)}
    wanted = {normal(re.split(r"[\[<>=]", requirement)[0]) for requirement in LOCKS[lock]}
    assert wanted
    assert wanted <= pinned
