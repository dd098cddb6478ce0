"""The user-visible interface: the command line to the letter, the shape of every file, the Python interface.

The other tests look at single features. This one keeps all of the outside at once in the `.json` files of this folder,
so that work on the inside can show that it changed nothing. After a change that is meant to change it:
``python -m tests.system.outside``, and a line in `docs/changes.md` that says why.
"""

from tests.system.outside.collecting import PARTS, kept, seen

__all__ = ["PARTS", "kept", "seen"]
