"""`cache`: the cache of compiled code."""

import time
from contextlib import suppress

from cyscc.host.answer.answer import Answer
from cyscc.host.interface.given import FORMS
from cyscc.host.output.errors import InputError
from cyscc.host.output.text import count_text
from cyscc.host.specification.ask import SpecError, question


def _size(text: str) -> int:
    from cyscc.sim.caching.libraries import size_of

    return size_of(text)


@question()
def cache(action: str = "list", *, limit: int | None = None) -> Answer:
    """List, check or clear the cache of compiled code.

    Entries in use are never removed.

    Raises
    ------
    SpecError
        A limit is given, and nothing is evicted.
    InputError
        The user has no folder for a cache.

    Notes
    -----
    list:  list the entries, most recently used first
    check: read and verify compiled code; status 3 if an entry is damaged, which the next run that needs it builds
           again; stored syntheses are verified when they are used
    evict: remove the least recently used entries until the rest is within the limit, as every build does
    clear: remove everything

    Examples
    --------
    cyscc cache
    cyscc cache check
    cyscc cache evict --limit 200M
    """
    from cyscc.sim.caching import libraries
    from cyscc.sim.caching.folder import cache_directory

    if limit is not None and action != "evict":
        raise SpecError("limit", "only evict has a limit")
    folder = cache_directory()
    if not folder.is_absolute():
        raise InputError("the user has no home: CYSCC_CACHE names a folder")
    with suppress(FileNotFoundError):
        next(folder.iterdir(), None)
    most = libraries.limit() if limit is None else limit
    if action == "clear":
        found = libraries.clear(folder)
    elif action == "evict":
        found = libraries.evict(folder, most)
    else:
        found = libraries.entries(folder, thorough=action == "check")
    entries = [
        {
            "name": each.path.name,
            "configuration": each.configuration,
            "state": each.state,
            "bytes": each.size,
            "used": each.used,
            "megabytes": each.size / 1e6,
            "last_used": time.strftime("%Y-%m-%d %H:%M", time.localtime(each.used)),
        }
        for each in found
    ]
    removed = action in ("evict", "clear")
    damaged = [each for each in found if each.damaged] if action == "check" else []
    many, size = count_text(len(found), "entry"), sum(each.size for each in found) / 1e6
    failure = f"{folder}: {count_text(len(damaged), 'entry')} of {len(found)} damaged"
    return Answer(
        title=f"{folder}: {many}, {size:,.1f} MB{', removed' if removed else ''}",
        tables={"entries": FORMS.table("cache", entries)},
        fields={"folder": str(folder), "limit": most, "removed": removed},
        failure=f"{failure}: {damaged[0].path.name}: {damaged[0].state}" if damaged else "",
    )
