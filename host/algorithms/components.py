"""Canonical names of components."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["canonical", "component_sizes"]


def canonical(labels: NDArray[np.integer]) -> NDArray[np.uint32]:
    """Name each component by its smallest vertex.

    Parameters
    ----------
    labels : ndarray of integers, shape (n,)
        Any labelling: two vertices belong together when their labels are equal.

    Returns
    -------
    ndarray of uint32, shape (n,)
        For each vertex the smallest vertex of its component. Equal for two labellings exactly when they describe the
        same components.
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return first.astype(np.uint32)[inverse]


def component_sizes(labels: NDArray[np.integer]) -> tuple[NDArray[np.integer], NDArray[np.int64]]:
    """Count the vertices of each component.

    Parameters
    ----------
    labels : ndarray of integers, shape (n,)
        A labelling, canonical or not.

    Returns
    -------
    labels : ndarray, shape (components,)
        The labels that occur, ascending.
    sizes : ndarray of int64, shape (components,)
        Number of vertices of each.
    """
    names, sizes = np.unique(labels, return_counts=True)
    return names, sizes.astype(np.int64)
