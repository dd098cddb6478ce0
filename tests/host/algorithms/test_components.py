"""Canonical components."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from host.algorithms.verification import canonical, component_sizes


def test_a_component_is_named_by_its_smallest_vertex() -> None:
    labels = canonical(np.array([7, 3, 7, 9, 3]))
    assert labels.dtype == np.uint32
    assert labels.tolist() == [0, 1, 0, 3, 1]


def test_no_vertices() -> None:
    assert canonical(np.empty(0, dtype=np.uint32)).tolist() == []


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_canonical_is_its_definition(labels: list[int]) -> None:
    assert canonical(np.array(labels)).tolist() == [labels.index(label) for label in labels]


def test_sizes() -> None:
    names, sizes = component_sizes(np.array([0, 1, 0, 3, 1, 0], dtype=np.uint32))
    assert names.tolist() == [0, 1, 3]
    assert sizes.tolist() == [3, 2, 1]
