"""Helpers for tests of graph files."""

import io
from pathlib import Path

import numpy as np
import pytest

from cyscc.host.graph.csr import Graph
from cyscc.host.graph.formats import read_graph
from cyscc.host.output.errors import InputError


def edges_of(graph: Graph) -> list[tuple[int, int]]:
    """Return the edges in the ids of the input, by source."""
    sources = np.repeat(np.arange(graph.vertices), graph.out_degrees())
    return list(zip(graph.original(sources).tolist(), graph.original(graph.targets).tolist(), strict=True))


def refusal(path: Path) -> str:
    """Return the message with which a file is refused, without its folder."""
    with pytest.raises(InputError) as error:
        read_graph(path)
    assert "\n" not in str(error.value)
    return str(error.value).replace(f"{path.parent}/", "")


def array_bytes(array: object) -> bytes:
    """Return an array as a member of an archive."""
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(array), allow_pickle=True)
    return file.getvalue()
