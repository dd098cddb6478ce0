"""The command line of the benchmark: `python -m host.bench`."""

import sys

from host.bench.command import main

sys.exit(main())
