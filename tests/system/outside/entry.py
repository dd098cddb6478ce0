"""Entry points of the program: the command line in this process, and `import cyscc`."""

import os
import sys
import tempfile
from collections.abc import Sequence

import cyscc
from cyscc.host.command_line.main import main

__all__ = ["cyscc", "run"]


def run(argv: Sequence[str]) -> tuple[int, str, str]:
    """Run a command line in the current folder; return its exit status, standard output and standard error.

    By their descriptors, since compiled code and other processes write there as well.
    """
    saved = [os.dup(number) for number in (1, 2)]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            for number, file in ((1, out), (2, err)):
                os.dup2(file.fileno(), number)
            status = main(argv)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            for number, descriptor in zip((1, 2), saved, strict=True):
                os.dup2(descriptor, number)
                os.close(descriptor)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="backslashreplace"))
    return status, texts[0], texts[1]
