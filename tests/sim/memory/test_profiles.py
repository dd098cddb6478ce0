"""Profiles by name, from a mapping, from files, and from outside."""

import json
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import partial
from pathlib import Path

import pytest

from cyscc.sim.memory import Ddr4, Fixed, Hbm2, Hc2, PayloadLayout, Profile, Stress, parse_profile, profile_from

CHOICE = (
    "choose from hc2, hbm2, ddr4, fixed:<latency> (1 to 100000), stress, stress:<seed> (0 to 9223372036854775807), "
    "a .toml file, a .py file of rules"
)


def refusal(make: Callable[[], object]) -> str:
    """Return what a profile is refused with: one line."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the whole message is compared
        make()
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hc2", Hc2()),
        ("hbm2", Hbm2()),
        ("ddr4", Ddr4()),
        ("fixed:1", Fixed(latency=1)),
        ("fixed:100000", Fixed(latency=100_000)),
        ("stress", Stress(seed=0)),
        ("stress:7", Stress(seed=7)),
        (f"stress:{2**63 - 1}", Stress(seed=2**63 - 1)),
    ],
)
def test_profile(text: str, expected: Profile) -> None:
    assert parse_profile(text) == expected


@pytest.mark.parametrize("text", ["hc2", "hbm2", "ddr4", "fixed:75", "stress:3"])
def test_name_is_what_was_parsed(text: str) -> None:
    assert str(parse_profile(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "HC2", "hc2:1", "hc2\n"),
        *("fixed:", "fixed:-1", "fixed:1.5", "fixed: 1", "fixed:1_0", "fixed:\u0661"),
        *("stress:", "stress:x", "stress:0x1"),
    ],
)
def test_bad_profile(text: str) -> None:
    assert refusal(lambda: parse_profile(text)) == f"memory profile {text!r} is not known: {CHOICE}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fixed", f"memory latency is missing: {CHOICE}"),
        ("fixed:0", "memory latency must be an integer from 1 to 100000, not 0"),
        ("fixed:100001", "memory latency must be an integer from 1 to 100000, not 100001"),
        (f"stress:{2**63}", f"memory seed must be an integer from 0 to {2**63 - 1}, not {2**63}"),
    ],
)
def test_value_out_of_range(text: str, message: str) -> None:
    assert refusal(lambda: parse_profile(text)) == message


@pytest.mark.parametrize(
    ("text", "quantum"),
    [
        ("hc2", 60),
        ("hbm2", 24),
        ("ddr4", 19),
        ("fixed:1", 1),
        ("fixed:3", 3),
        ("fixed:4", 4),
        ("fixed:75", 4),
        ("stress", 4),
    ],
)
def test_quantum(text: str, quantum: int) -> None:
    assert parse_profile(text).quantum == quantum


def test_quantum_follows_the_shortest_way() -> None:
    assert Hc2(request_travel=3, bank_busy=5, response_travel=2).quantum == 10
    assert Hc2(flush_travel=7).quantum == 7


def test_own_profile() -> None:
    own = profile_from({"profile": "hc2", "bank_busy": 20, "port_queue": 8})
    assert own == Hc2(bank_busy=20, port_queue=8)
    assert str(own) == "hc2(bank_busy=20, port_queue=8)"
    assert own.unloaded_latency == 80
    assert profile_from({}) == Hc2()
    assert profile_from({"profile": "fixed:9"}) == Fixed(latency=9)


REFUSED = json.loads(Path(__file__).with_name("refused_parameters.json").read_text())
"""Parameters that are refused, with the message: as mappings, of payloads, and as the texts of files."""


@pytest.mark.parametrize(("mapping", "message"), REFUSED["mappings"])
def test_bad_mapping(mapping: dict[str, object], message: str) -> None:
    assert refusal(lambda: profile_from(mapping)) == message


@pytest.mark.parametrize(("parameters", "message"), REFUSED["payloads"])
def test_impossible_payload_layout(parameters: dict[str, int], message: str) -> None:
    assert refusal(lambda: PayloadLayout(**parameters)) == message


def test_file_of_parameters(tmp_path: Path) -> None:
    file = tmp_path / "slow.toml"
    file.write_text('profile = "hc2"\nbank_busy = 20\ncontrollers = 4\n')
    profile = parse_profile(str(file))
    assert profile == Hc2(bank_busy=20, controllers=4)
    described = profile.describe()
    assert (described["profile"], described["bank_busy"], described["banks"]) == ("hc2", 20, 128)


@pytest.mark.parametrize(("text", "message"), REFUSED["files"])
def test_bad_file_is_named(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text)
    assert refusal(lambda: parse_profile(str(file))) == f"{file}: {message}"


def test_file_that_is_not_there(tmp_path: Path) -> None:
    assert refusal(lambda: parse_profile(str(tmp_path / "a.toml"))) == f"{tmp_path}/a.toml: No such file or directory"


CYCLES, PLACES = (0, 1_000_000), (1, 65_536)
DRAM = {
    CYCLES: "request_travel=4 response_travel=4",
    (1, 1_000_000): "flush_travel=24",
    PLACES: "port_queue=32 reads_in_flight=512 writes_in_flight=512",
    (5, 16): "channel_bit=6",
}
RANGES: dict[type[Profile], dict[tuple[int, int], str]] = {
    Fixed: {(1, 100_000): "latency"},
    Stress: {(0, 2**63 - 1): "seed=0"},
    Hc2: {
        CYCLES: "request_travel=30 response_travel=30",
        (1, 1_000_000): "flush_travel=60",
        (1, 10_000): "bank_busy=15",
        PLACES: "port_queue=32 reads_in_flight=512 writes_in_flight=512",
        (1, 64): "controllers=8",
        (1, 1024): "banks=128",
        (1, 8): "links=2",
        (3, 13): "controller_bit=6 link_bit=3",
    },
    Hbm2: {
        **DRAM,
        (1, 10_000): "machine_mhz=150 memory_mhz=900",
        (0, 100_000): "way_there=40 way_back=41 t_rfc=234 refresh_stagger=0",
        (1, 100_000): "t_refi=3510",
        (0, 1000): "t_rcd=14 t_rp=14 t_ras=31 t_cl=13 t_cwl=4 t_rtp=6 t_wr=15 t_wtr=8 t_rtw=13",
        (1, 1000): "t_ccd_l=4",
        (1, 32): "t_rrd=4",
        (0, 32): "t_faw=15",
        (1, 1024): "entries=128 write_batch=38",
        (1, 64): "burst=2 channels=32",
        (1, 8): "groups=4 banks=4 activate_clocks=2 precharge_clocks=1 pseudo_channels=2",
        (1, 128): "columns=32",
        (8, 256): "burst_bytes=32",
        (1, 4): "links=1",
        (0, 3): "low_groups=1",
        (0, 7): "low_columns=5",
    },
    Ddr4: {
        **DRAM,
        (1, 10_000): "machine_mhz=150 memory_mhz=1200",
        (0, 100_000): "way_there=34 way_back=34 t_rfc=433 refresh_stagger=0",
        (1, 100_000): "t_refi=9364",
        (0, 1000): "t_rcd=16 t_rp=16 t_ras=39 t_cl=16 t_cwl=12 t_rtp=9 t_wr=18 t_wtr=9 t_rtw=10",
        (1, 1000): "t_ccd_l=6",
        (1, 32): "t_rrd=4",
        (0, 32): "t_faw=26",
        (1, 1024): "entries=32 write_batch=19",
        (1, 64): "burst=4 channels=4",
        (1, 8): "groups=4 banks=4 activate_clocks=1 precharge_clocks=1 pseudo_channels=1",
        (1, 128): "columns=128",
        (8, 256): "burst_bytes=64",
        (1, 4): "links=2",
        (0, 3): "low_groups=2",
        (0, 7): "low_columns=7",
    },
}
"""Of each profile the parameters by their range, with their defaults."""


@pytest.mark.parametrize("profile", RANGES, ids=lambda profile: profile.name)
def test_ranges_and_defaults(profile: type[Profile]) -> None:
    found: dict[tuple[int, int], set[str]] = {}
    for each in fields(profile):
        default = "" if each.default is MISSING else f"={each.default}"
        found.setdefault((each.metadata["low"], each.metadata["high"]), set()).add(each.name + default)
    assert found == {limits: set(names.split()) for limits, names in RANGES[profile].items()}
    given = {"latency": 75} if profile is Fixed else {}
    for (low, high), names in found.items():
        for name in (each.partition("=")[0] for each in names):
            for value in (low - 1, high + 1):
                message = f"memory {name} must be an integer from {low} to {high}, not {value}"
                assert refusal(partial(profile, **{**given, name: value})) == message
