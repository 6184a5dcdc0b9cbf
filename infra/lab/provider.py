"""The lab's program: `python3 provider.py VERB`; see infra/README.md. Python 3.11 or newer, standard library only."""

import sys

from orchlab.cli import main

sys.exit(main(sys.argv[1:]))
