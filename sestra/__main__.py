"""``python -m sestra`` is ``sestra``."""

import sys

from sestra.cli import main

sys.exit(main())
