"""Strongly connected components of awkward graphs, on every machine under every memory, against scipy."""

import pytest

from tests.system.graphs import GRAPHS
from tests.system.runs import MEMORIES, check_scc, made

_FULL = ("hc2", "hc2-1ae", "published", "published-1ae")


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("name", GRAPHS)
def test_small_machine(name: str, memory: str) -> None:
    with made("test", memory) as machine:
        check_scc(machine, GRAPHS[name])


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("config", _FULL)
def test_full_machine(config: str, memory: str) -> None:
    with made(config, memory) as machine:
        for name, graph in GRAPHS.items():
            try:
                check_scc(machine, graph)
            except BaseException as error:
                error.add_note(f"graph: {name}")
                raise
