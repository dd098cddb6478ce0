"""Digests of blocks."""

import numpy as np
import pytest

from host.graph.digests import BLOCK_BYTES, block_digests

IDS = BLOCK_BYTES // 4


def random_ids(count: int) -> np.ndarray:
    return np.random.default_rng(count).integers(0, 2**32, count, dtype=np.uint32)


def test_every_flipped_bit_shows_and_only_in_its_block() -> None:
    ids = random_ids(2 * IDS + 3)
    before = block_digests(ids)
    assert before.size == 3
    for place in range(ids.size):
        bit = np.uint32(1 << (7 * place + place // 32) % 32)
        ids[place] ^= bit
        assert np.flatnonzero(block_digests(ids) != before).tolist() == [place // IDS]
        ids[place] ^= bit
    assert (block_digests(ids) == before).all()


def test_the_highest_bits_of_two_ids_do_not_cancel() -> None:
    ids = np.zeros(IDS, np.uint32)
    before = block_digests(ids)
    for place in range(1, IDS):
        ids[[0, place]] = 1 << 31
        assert block_digests(ids) != before
        ids[place] = 0


def test_exchanged_ids_show() -> None:
    ids = random_ids(IDS)
    assert block_digests(ids) != block_digests(np.roll(ids, 1))


@pytest.mark.parametrize(("ids", "blocks"), [(0, 0), (1, 1), (IDS, 1), (IDS + 1, 2)])
def test_number_of_blocks(ids: int, blocks: int) -> None:
    assert block_digests(np.zeros(ids, np.uint32)).tolist() == [0] * blocks
