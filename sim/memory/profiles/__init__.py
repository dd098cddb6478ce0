"""Memory profiles, one file each, and their selection by name, by a TOML file of parameters, or by a file of rules."""

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from difflib import get_close_matches
from pathlib import Path

from cyscc.sim.documents import read_toml
from cyscc.sim.memory.profiles.ddr4 import Ddr4
from cyscc.sim.memory.profiles.fixed import Fixed
from cyscc.sim.memory.profiles.hbm2 import Hbm2
from cyscc.sim.memory.profiles.hc2 import Hc2
from cyscc.sim.memory.profiles.profile import Profile
from cyscc.sim.memory.profiles.rules import load_rules
from cyscc.sim.memory.profiles.stress import Stress
from cyscc.sim.trust import rules_file

_PROFILES: dict[str, type[Profile]] = {profile.name: profile for profile in (Hc2, Hbm2, Ddr4, Fixed, Stress)}

_CHANGED = re.compile(r"(.*\S) \((\w+=\d+(?:, \w+=\d+)*)\)")
"""A profile as text, with overrides."""


def parse_profile(text: str) -> Profile:
    """Return the profile that a text names.

    Parameters
    ----------
    text : str
        `hc2`, `hbm2`, `ddr4`, `fixed:<cycles>`, `stress`, `stress:<seed>`; a file of parameters that ends in
        ``.toml``, see
        `read_profile`; or, only if the text is a `GivenText`, a file of rules that ends in ``.py``, with a value after
        a colon if it has a `short`. Overrides may follow in parentheses: ``hc2 (bank_busy=20, links=1)``.

    Raises
    ------
    ValueError
        The text names no profile, or the profile is invalid.
    """
    if changed := _CHANGED.fullmatch(text):
        values = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", changed[2])}
        return changed_profile(parse_profile(type(text)(changed[1])), values)
    if text.endswith(".toml"):
        return read_profile(Path(text))
    return profile_from({"profile": text})


def read_profile(path: Path) -> Profile:
    """Return the profile of a TOML file with ``profile = "NAME"`` and values of that profile's parameters.

    Raises
    ------
    ValueError
        It cannot be read, a key is unknown, or a value is invalid. Names the file.
    """
    try:
        return profile_from(read_toml(path))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def profile_from(mapping: Mapping[str, object]) -> Profile:
    """Return the profile that a mapping describes.

    Parameters
    ----------
    mapping : Mapping of str to object
        `profile`, a name as for `parse_profile` ("hc2" by default), and any of that profile's parameters.

    Raises
    ------
    ValueError
        A key is unknown, a value is invalid or missing, or the file of rules is invalid.
    """
    values = dict(mapping)
    text = values.pop("profile", "hc2")
    if not isinstance(text, str):
        raise ValueError(f"memory profile must be a string, not {text!r}")
    name, colon, value = text.partition(":")
    profile = load_rules(text, taken=tuple(_PROFILES)) if rules_file(text) else _PROFILES.get(name)
    if profile is None or (colon and not (profile.short and re.fullmatch("[0-9]{1,19}", value))):
        raise ValueError(f"memory profile {text!r} is not known: choose from {_choice()}")
    if colon:
        values = {profile.short: int(value)} | values
    known = [each.name for each in fields(profile)]
    for key in values:
        if key not in known:
            raise ValueError(
                f"memory key {key!r} is not known for profile {text!r}: choose from {', '.join(('profile', *known))}"
            )
    for each in fields(profile):
        if each.default is MISSING and each.name not in values:
            raise ValueError(f"memory {each.name} is missing: choose from {_choice()}")
    return profile(**values)


def changed_profile(profile: Profile, values: Mapping[str, object]) -> Profile:
    """Return a profile with overrides of its parameters.

    Raises
    ------
    ValueError
        A key is unknown, or a value is invalid.
    """
    known = [each.name for each in fields(profile)]
    for key in values:
        if key not in known:
            hint = "".join(f"; did you mean {match}?" for match in get_close_matches(key, known, n=1))
            raise ValueError(
                f"memory key {key!r} is not known for profile {profile.name!r}: choose from {', '.join(known)}{hint}"
            )
    return replace(profile, **values) if values else profile


def _choice() -> str:
    """Return the list of profiles as text, for messages."""
    texts = []
    for name, profile in _PROFILES.items():
        short = {each.name: each for each in fields(profile)}.get(profile.short)
        if short is None or short.default is not MISSING:
            texts.append(name)
        if short is not None:
            texts.append(f"{name}:<{short.name}> ({short.metadata['low']} to {short.metadata['high']})")
    return ", ".join([*texts, "a .toml file", "a .py file of rules"])
