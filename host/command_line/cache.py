"""`cyscc cache`: the cache of compiled code."""

import argparse
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from cyscc.host.specification.options import add_shared

if TYPE_CHECKING:
    from cyscc.sim.caching.libraries import Entry

__all__ = ["TEXTS", "add_options", "run"]

_ACTIONS = ("list", "check", "evict", "clear")


def _size(text: str) -> int:
    from cyscc.sim.caching.libraries import size_of

    try:
        return size_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


TEXTS = {
    "help": "list, check or clear the cache of compiled code",
    "description": "List, check or clear the cache of compiled code. Entries in use are never removed.",
    "epilog": """examples:
  cyscc cache
  cyscc cache check
  cyscc cache evict --limit 200M

list:  list the entries, most recently used first
check: read and verify compiled code; status 3 if an entry is damaged, which the next run that needs it builds again;
       stored syntheses are verified when they are used
evict: remove the least recently used entries until the rest is within the limit, as every build does
clear: remove everything
""",
}
"""Help of the command, as `argparse` takes it."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "action",
        metavar="ACTION",
        nargs="?",
        default="list",
        choices=_ACTIONS,
        help=f"{', '.join(_ACTIONS)} (default: list)",
    )
    parser.add_argument(
        "--limit", type=_size, metavar="SIZE", help="evict: limit in bytes, such as 500M (default: 1 GiB)"
    )
    parser.add_argument("--json", metavar="OUT", help="write the list as JSON ('-': standard output)")
    add_shared(parser, "--quiet")


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Raises
    ------
    UsageError, InputError
        Bad usage, or an output that cannot be written.
    SimulationError
        An entry of the cache is damaged.
    """
    from cyscc.host.output.errors import InputError
    from cyscc.host.output.files import check_output, identity, output_result
    from cyscc.host.output.text import count_text
    from cyscc.host.specification.options import UsageError
    from cyscc.sim.caching.folder import cache_directory
    from cyscc.sim.caching.libraries import clear, entries, evict, limit
    from cyscc.sim.errors import SimulationError

    if arguments.limit is not None and arguments.action != "evict":
        raise UsageError("--limit: only evict has a limit")
    if arguments.json is not None:
        check_output(arguments.json, "--json")
    cache = cache_directory()
    if not cache.is_absolute():
        raise InputError("the user has no home: CYSCC_CACHE names a folder")
    with suppress(FileNotFoundError):
        os.scandir(cache).close()
    most = limit() if arguments.limit is None else arguments.limit
    if arguments.action == "clear":
        found = clear(cache)
    elif arguments.action == "evict":
        found = evict(cache, most)
    else:
        found = entries(cache, thorough=arguments.action == "check")
    size = sum(entry.size for entry in found)
    removed = ", removed" if arguments.action in ("evict", "clear") else ""
    summary = f"{cache}: {count_text(len(found), 'entry')}, {_megabytes(size)}{removed}\n"
    document = {
        **identity(),
        "folder": str(cache),
        "limit": most,
        "removed": bool(removed),
        "entries": [_described(entry) for entry in found],
    }
    output_result(document, _table(found) + summary, path=arguments.json, quiet=arguments.quiet)
    damaged = [entry for entry in found if entry.damaged]
    if arguments.action == "check" and damaged:
        raise SimulationError(
            f"{cache}: {count_text(len(damaged), 'entry')} of {len(found)} damaged: "
            f"{damaged[0].path.name}: {damaged[0].state}"
        )


def _described(entry: "Entry") -> dict[str, Any]:
    return {
        "name": entry.path.name,
        "configuration": entry.configuration,
        "bytes": entry.size,
        "used": entry.used,
        "state": entry.state,
    }


def _table(entries: "list[Entry]") -> str:
    import time

    from cyscc.host.output.text import plain_table

    rows = [
        (
            *(entry.path.name, entry.configuration, entry.state),
            *(_megabytes(entry.size), time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used))),
        )
        for entry in entries
    ]
    return plain_table(rows, head=("name", "configuration", "state", "size", "last used"), words=3) if rows else ""


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
