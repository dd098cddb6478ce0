"""What the host's side knows of the hardware: the words by which a vertex is queued."""

import numpy as np

from cyscc.sim.hardware import chunk_words, chunks_of
from tests.words import graph_word


def test_words_of_chunks() -> None:
    words = np.array([graph_word(5, degree) for degree in (0, 1, 4, 5, 8, 9)], np.uint64)
    assert chunks_of(words, 4).tolist() == [1, 1, 1, 2, 2, 3]
    assert chunks_of(words, 0).tolist() == [1] * 6
    for visited in (False, True):
        assert chunk_words(graph_word(5, 9, visited), 4).tolist() == [
            graph_word(5, 4, visited),
            graph_word(9, 4, visited),
            graph_word(13, 1, visited),
        ]
    assert chunk_words(graph_word(5, 9), 0).tolist() == [graph_word(5, 9)]
    assert chunk_words(graph_word(5, 0), 4).tolist() == [graph_word(5, 0)]
