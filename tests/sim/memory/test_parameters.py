"""Profiles by name and from a mapping."""

import pytest

from sim.memory import MemoryParameters, parse_profile

CHOICE = "choose from hc2, fixed:<cycles> (1 to 100000), stress, stress:<seed> (0 to 9223372036854775807)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hc2", MemoryParameters()),
        ("fixed:1", MemoryParameters(kind="fixed", latency=1)),
        ("fixed:100000", MemoryParameters(kind="fixed", latency=100_000)),
        ("stress", MemoryParameters(kind="stress", seed=0)),
        ("stress:7", MemoryParameters(kind="stress", seed=7)),
        (f"stress:{2**63 - 1}", MemoryParameters(kind="stress", seed=2**63 - 1)),
    ],
)
def test_profile(text: str, expected: MemoryParameters) -> None:
    assert parse_profile(text) == expected


@pytest.mark.parametrize("text", ["hc2", "fixed:75", "stress:3"])
def test_name_is_what_was_parsed(text: str) -> None:
    assert parse_profile(text).name == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "HC2", "hc2:1", "hc2\n"),
        *(
            "fixed",
            "fixed:",
            "fixed:0",
            "fixed:100001",
            "fixed:-1",
            "fixed:1.5",
            "fixed: 1",
            "fixed:1_0",
            "fixed:\u0661",
        ),
        *("stress:", "stress:x", "stress:0x1", f"stress:{2**63}"),
    ],
)
def test_bad_profile(text: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the whole message is compared
        parse_profile(text)
    assert str(caught.value) == f"memory profile {text!r} is not known: {CHOICE}"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "quantum"), [("hc2", 60), ("fixed:1", 1), ("fixed:3", 3), ("fixed:4", 4), ("fixed:75", 4), ("stress", 4)]
)
def test_quantum(text: str, quantum: int) -> None:
    assert parse_profile(text).quantum == quantum


def test_quantum_follows_the_shortest_way() -> None:
    assert MemoryParameters(request_travel=3, bank_busy=5, response_travel=2).quantum == 10
    assert MemoryParameters(flush_travel=7).quantum == 7


def test_own_profile() -> None:
    own = MemoryParameters.from_mapping({"profile": "hc2", "bank_busy": 20, "port_queue": 8})
    assert own == MemoryParameters(bank_busy=20, port_queue=8)
    assert own.name == "hc2(bank_busy=20, port_queue=8)"
    assert own.unloaded_latency == 80
    assert MemoryParameters.from_mapping({}) == MemoryParameters()
    assert MemoryParameters.from_mapping({"profile": "fixed:9"}) == MemoryParameters(kind="fixed", latency=9)


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        (
            {"bank_bussy": 20},
            "memory key 'bank_bussy' is not known for profile 'hc2': choose from profile, request_travel, bank_busy, "
            "response_travel, flush_travel, port_queue, reads_in_flight, writes_in_flight",
        ),
        (
            {"profile": "fixed:9", "bank_busy": 20},
            "memory key 'bank_busy' is not known for profile 'fixed:9': choose from profile",
        ),
        ({"profile": 9}, "memory profile must be a string, not 9"),
        ({"bank_busy": 0}, "memory bank_busy must be an integer from 1 to 10000, not 0"),
        ({"bank_busy": 10_001}, "memory bank_busy must be an integer from 1 to 10000, not 10001"),
        ({"bank_busy": 1.5}, "memory bank_busy must be an integer from 1 to 10000, not 1.5"),
        ({"bank_busy": True}, "memory bank_busy must be an integer from 1 to 10000, not True"),
        ({"reads_in_flight": "9"}, "memory reads_in_flight must be an integer from 1 to 65536, not '9'"),
        ({"port_queue": 0}, "memory port_queue must be an integer from 1 to 65536, not 0"),
    ],
)
def test_bad_mapping(mapping: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the whole message is compared
        MemoryParameters.from_mapping(mapping)
    assert str(caught.value) == message


def test_bad_kind() -> None:
    with pytest.raises(ValueError, match=r"^memory kind must be one of hc2, fixed, stress, not 'ddr'$"):
        MemoryParameters(kind="ddr")  # type: ignore[arg-type]
