"""Controller, bank and link of an address."""

from sim.memory.addresses import BANKS, LINKS, bank_of, controller_of, link_of


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
