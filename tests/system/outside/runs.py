"""Command lines that succeed: their output and their files."""

from tests.system.outside.normal import Mode

_C = "--config test --memory fixed:75 --threads 1"

SIMULATED: tuple[str, ...] = (
    "scc g.txt --config test --threads 1",
    f"scc g.txt {_C} --json out.json --labels out.txt",
    f"scc g.txt {_C} --json -",
    f"scc g.txt {_C} --labels -",
    f"scc g.txt {_C} --quiet",
    f"scc g.txt {_C} --no-verify",
    f"scc twice.txt {_C} --simplify --json out.json",
    f"scc twice.txt {_C} --queue-slack 0 --json out.json",
    f"scc g.mtx {_C} --labels -",
    f"scc symmetric.mtx {_C} --labels -",
    f"scc g.gr {_C} --labels -",
    f"scc g.npz {_C} --labels -",
    f"scc g.txt.gz {_C} --labels -",
    f"scc weighted.txt {_C} --labels -",
    "scc g.txt --config test --memory hbm2 --threads 1 --json out.json",
    "scc g.txt --config test --memory stress:3 --threads 1",
    "scc g.txt --config test --memory slow.toml --threads 1",
    "scc g.txt --config test --set memory.bank_busy=20 --threads 1 --json out.json",
    "bfs tiny.txt --source 0 --config test --memory fixed:1 --executor amaranth --threads 1",
    f"scc g.txt {_C} --record out --trace out.pftrace",
    f"scc g.txt {_C} --trace out.pftrace",
    f"scc g.txt {_C} --record out --cycle-limit 3000",
    f"scc g.txt {_C} --checkpoint out",
    f"scc g.txt {_C} --checkpoint out --checkpoint-every 1kcycles --cycle-limit 3000",
    "scc --resume kept --cycle-limit 1e6 --threads 1",
    "scc --resume kept --cycle-limit 1e6 --threads 1 --waves out.vcd --wave-window 0:10",
    "scc --resume kept --cycle-limit 1e6 --threads 1 --checkpoint out --json out.json",
    f"scc g.txt {_C} --waves out.vcd --scope engine0.bfs0 --wave-window 0:100 --wave-view",
    f"bfs g.txt --source 10 {_C} --json out.json --levels out.txt",
    f"bfs g.txt --source 10 {_C} --levels -",
    "bfs g.txt --source 10 --config test --threads 1 --roofline --roofline-plot out.svg --json out.json",
    f"bfs g.txt --source 10 {_C} --roofline",
    "bfs tiny.txt --source 0 --config only.toml --memory fixed:1 --executor amaranth --threads 1 --json out.json",
    "bfs g.txt --source 10 --config test --memory hbm2 --threads 1 --record out --record-interval 64",
    f"bfs g.txt --source 17 {_C}",
    "bfs --resume kept-bfs --cycle-limit 1e6 --threads 1",
    f"mec m.tra --on accelerator {_C} --json out.json",
)
"""Simulated runs."""

STUDIED: tuple[str, ...] = (
    "explain r-scc",
    "explain r-bfs",
    "explain r-slow",
    "explain r-scc --phase forward --iteration 1",
    "explain r-scc --level 0 --by kernel",
    "explain r-scc --by phase",
    "explain r-scc --by iteration",
    "explain r-scc --by engine",
    "explain r-bfs --by interval --top 3",
    "explain r-bfs --banks",
    "explain r-bfs --fifos",
    "explain r-bfs --json out.json --quiet",
    "explain r-scc --json -",
    "explain r-slow r-bfs",
    "explain r-bfs r-slow --json out.json",
    "report r-bfs -o out.html",
    "report r-scc r-scc -o out.html",
    "report r-bfs r-slow -o out.html --quiet",
    "replay r-slow --at 400 --cycles 50 --threads 1 -o out.vcd",
    "replay r-bfs --life-of 11 --threads 1",
    "replay r-bfs --life-of 13 10 --threads 1 --json out.json",
    "replay r-bfs --life-of 12 --cycles 50 --threads 1 --scope engine0.bfs0.visitor -o out.vcd",
    "replay r-slow --at response,engine=0 --before 10 --cycles 50 --threads 1 --scope engine0.bfs0",
    "replay r-failed --at hang --cycles 50 --threads 1",
    "replay r-failed --at error --cycles 50 --threads 1",
    "replay r-failed --at 2000 --cycles 50 --threads 1",
    "sweep s-grid.toml -o out --jobs 1 --json out.json",
    "sweep s-points.toml -o out --jobs 1",
    "sweep s-graphs.toml -o out --jobs 1 --json - --quiet",
)
"""Commands on records and waveforms, and sweeps."""

WRITTEN: tuple[str, ...] = (
    "generate random --vertices 4 --degree 2 --seed 1 -o out.txt",
    "generate random --vertices 4 --degree 2 --seed 1 -o out.mtx",
    "generate rmat --vertices 4 --degree 2 --seed 1 -o out.gr",
    "generate rmat --vertices 4 --degree 2 --seed 1 -o out.npz",
    "generate ssca2 --vertices 8 --degree 2 --seed 1 -o out.txt.gz",
    "generate gnm --vertices 4 --edges 5 --seed 1 -o out.gr --quiet",
    "model grid width=3 height=3 room=3 -o out.tra",
    "model philosophers philosophers=2 -o out.drn",
    "model coin processes=1 -o out.tra.gz",
    "model leader -o out.drn.gz",
    "model islands -o out.tra",
    "model stairs -o out.tra",
    "model random states=5 -o out.drn --quiet",
    "verilog --config test -o out",
    "verilog --config test --top convey -o out --quiet",
    "verilog --config test --top axi --outstanding-reads 8 -o out --quiet",
)
"""Graphs, models and Verilog."""

_TIMED = (
    *(
        f"software {name} g.txt --threads 1 --json out.json"
        for name in ("kosaraju", "tarjan", "hong", "li", "multipartition", "quach", "fbt")
    ),
    "software fbt g.txt --threads 1 --cached 2 --segment 2 --no-hybrid --order shuffled --seed 3",
    "software li g.txt --threads 1 --sources 0 --order reversed --no-verify",
    "software tarjan g.txt --json -",
    "mec m.tra",
    "mec m.drn -o -",
    "mec m.tra --json out.json -o out.txt",
    "mec m.tra --algorithm parallel --threads 1 --order reversed --json out.json",
    "compare g.txt tiny.txt --configs test --memory fixed:75 --threads 1 --runs 1 --json out.json --plot out.svg",
    "compare g.txt --configs none --algorithms scipy,tarjan --runs 1 --no-verify",
)

_MEASURED = (
    "cache list --json out.json --quiet",
    "reproduce wijs-table2 --models phil --quick -o out --jobs 1",
)

SOFTWARE: tuple[str, ...] = (*_TIMED, *_MEASURED)
"""Commands that measure and print real time."""


def mode_of(line: str) -> Mode:
    """Return what of the output of a command line differs."""
    if line in _MEASURED:
        return Mode.MEASURED
    return Mode.TIMED if line in _TIMED else Mode.SIMULATED
