"""Controller, bank and link of an address."""

import numpy as np
import pytest

from cyscc.sim.memory import Hbm2, Hc2, Memory
from cyscc.sim.memory.library import functions_of

HC2 = Hc2()
BANKS, LINKS = 1024, 16
bank_of, controller_of, link_of = HC2.bank_of, HC2.channel_of, HC2.link_of


def test_mapping_is_the_documented_one() -> None:
    address = 0b1_1010_101_110_000  # bits 12..9 = 13 (with bit 12 set), 8..6, 5..3
    high, controller, low = (address >> 9) & 15, (address >> 6) & 7, (address >> 3) & 7
    assert controller_of(address) == controller
    assert bank_of(address) == controller * 128 + high * 8 + low
    assert link_of(address) == controller * 2 + (low & 1)


def test_each_bank_has_one_word_of_every_8_kib() -> None:
    for start in (0, 8192, 1 << 40):
        assert sorted(bank_of(start + 8 * word) for word in range(BANKS)) == list(range(BANKS))


def test_neighbouring_words_of_4_bytes_share_a_bank() -> None:
    assert all(bank_of(8 * word) == bank_of(8 * word + 4) for word in range(BANKS))
    assert all(link_of(8 * word) == link_of(8 * word + 4) for word in range(BANKS))


def test_each_link_serves_an_equal_share_of_the_banks() -> None:
    banks = [set[int]() for _ in range(LINKS)]
    for word in range(BANKS):
        banks[link_of(8 * word)].add(bank_of(8 * word))
    assert [len(share) for share in banks] == [BANKS // LINKS] * LINKS
    assert len(set().union(*banks)) == BANKS


@pytest.mark.parametrize(
    "profile",
    [
        HC2,
        Hc2(controllers=1, banks=1, links=1, controller_bit=3, link_bit=3),
        Hc2(controllers=4, banks=16, links=4, controller_bit=7, link_bit=5),
        Hc2(controllers=64, banks=2, controller_bit=3, link_bit=9),
        Hc2(controllers=2, banks=8, controller_bit=6, link_bit=4),
    ],
)
def test_banks_and_links_of_any_parameters_share_alike(profile: Hc2) -> None:
    shared = profile.contention
    assert (shared.links, shared.banks) == (profile.controllers * profile.links, profile.controllers * profile.banks)
    for number, of in ((shared.links, shared.link_by_word), (shared.banks, shared.bank_by_word)):
        assert np.bincount(of, minlength=number).tolist() == [of.size // number] * number
    # A bank has the controller that its address has, and its links lead there.
    words = 8 * np.arange(shared.bank_by_word.size)
    controllers = words >> profile.controller_bit & profile.controllers - 1
    assert np.array_equal(shared.bank_by_word // profile.banks, controllers)
    assert np.array_equal(shared.link_by_word // profile.links, controllers)


@pytest.mark.parametrize(
    "profile",
    [
        HC2,
        Hc2(controllers=4, banks=16, links=4, controller_bit=7, link_bit=5),
        Hbm2(),
        Hbm2(channels=8, links=2, channel_bit=10, low_groups=0, low_columns=3),
    ],
    ids=str,
)
def test_compiled_rules_have_the_same_map(profile: Hc2 | Hbm2) -> None:
    memory = Memory(profile, engines=1, ports=1)
    functions = functions_of(type(profile), engines=1, ports=1)  # type: ignore[arg-type]
    places = profile.contention.bank_by_place
    for address in np.random.default_rng(3).integers(0, 1 << 36, 200).tolist():
        assert functions["link_of"](memory.model.context, address) == profile.link_of(address)
        place = functions["place_of"](memory.model.context, address, (1 << 30) - 1)
        if places is None:
            word = place % profile.contention.bank_by_word.size
            assert profile.contention.bank_by_word[word] == profile.bank_of(address)
        else:
            assert places[place] == profile.bank_of(address)
