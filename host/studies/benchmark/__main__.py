"""The command line of the benchmark: `python -m host.studies.benchmark`."""

import sys

from host.studies.benchmark.command import main

sys.exit(main())
