"""The digest of the sources that measurements depend on."""

from pathlib import Path

from cyscc.host.runs.sources import files_digest, source_files, sources_digest

ROOT = Path(__file__).resolve().parents[3]


def test_what_decides_about_a_result_counts() -> None:
    names = [path.resolve().relative_to(ROOT).as_posix() for path in source_files()]
    for name in (
        "hw/config.py",
        "hw/bfs/kernel.py",
        "sim/machine.py",
        "sim/memory/profiles/hc2.py",
        "sim/executors/compiled/parts.py",
        "sim/executors/compiled/native/machine.cpp",
        "sim/executors/compiled/native/engine.h",
        "host/driver/search.py",
        "host/graph/generators.py",
        "host/baselines/software/hong.py",
        "host/experiments/measuring/machines.py",
        "host/experiments/measuring/graphs.py",
        "host/runs/execution.py",
        "host/output/errors.py",
    ):
        assert names.count(name) == 1, name
    for name in (
        "host/command_line/main.py",
        "host/experiments/studies/searches.py",
        "host/analysis/explain/verdict.py",
    ):
        assert name not in names, "reports may change without measuring again"


def test_every_byte_and_name_counts(tmp_path: Path) -> None:
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))

    def digest(first: str, second: str) -> str:
        one.write_text(first)
        two.write_text(second)
        return files_digest([one, two])

    digests = [digest("a\nb\n", "c\n"), digest("a\n", "b\nc\n"), digest("a\nb\n", "d\n"), digest("a\nb\nc\n", "")]
    assert len(set(digests)) == 4
    assert digest("a\nb\n", "c\n") == digests[0]
    two.rename(three)
    assert files_digest([one, three]) not in digests


def test_the_digest_is_that_of_the_sources() -> None:
    assert sources_digest() == files_digest(source_files())
