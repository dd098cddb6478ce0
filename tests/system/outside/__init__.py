"""The user-visible interface: the command line to the letter, the shape of every file, the Python interface.

The other tests look at single features. This one keeps all of the outside at once in the `.json` files of this folder,
so that work on the inside can show that it changed nothing. After a change that is meant to change it:
``pytest tests/system/test_outside.py --pins``, and a line in `docs/changes.md` that says why.

The keys of a snapshot are the command lines that are run. A further one is first written there with an empty outcome,
``"scc g.txt --threads 0": {}``: `refused.json` has those that one would expect to be refused, `simulated.json` runs,
`studied.json` commands on records and waveforms, and sweeps, `written.json` graphs, models and Verilog, and
`software.json` what measures and prints real time. `interface.json` has calls of the Python interface as keys, `wrong`
ones and `used` ones. The files that they name are in `world.toml`.
"""
