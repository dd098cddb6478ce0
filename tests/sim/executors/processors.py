"""Compilers for the processors that people have, and what runs their programs here."""

import platform
import shutil
from pathlib import Path

import pytest

__all__ = ["tools_for"]

_X86 = ("x86-64-v2", "x86-64-v3", "skylake-avx512")
_NEEDS = {"x86-64-v2": "sse4_2", "x86-64-v3": "avx2", "skylake-avx512": "avx512dq"}
"""What a processor must have to run programs for these, as Linux calls it."""


def tools_for(processor: str) -> tuple[list[str], list[str]]:
    """Return the command that compiles for a processor, and that which its programs are run by; skip without them.

    Parameters
    ----------
    processor : str
        ``native``; ``plain``: without vector instructions of any make; ``aarch64``: of 64-bit ARM, which is emulated;
        or a name that GCC has for x86.
    """
    if processor == "native":
        return ["g++", "-march=native"], []
    if processor == "aarch64":
        tools = "aarch64-linux-gnu-g++", "qemu-aarch64"
        for tool, package in zip(tools, ("g++-aarch64-linux-gnu", "qemu-user"), strict=True):
            if shutil.which(tool) is None:
                pytest.skip(f"{tool} is not there (Debian's package {package})")
        return [tools[0], "-static"], [tools[1]]
    if platform.machine() != "x86_64":
        pytest.skip("only x86 has these options")
    if processor == "plain":
        return ["g++", "-march=x86-64", "-U__SSE2__"], []
    assert processor in _X86
    if _NEEDS[processor] not in Path("/proc/cpuinfo").read_text().split():
        pytest.skip(f"this processor has no {_NEEDS[processor]}")
    return ["g++", f"-march={processor}"], []
