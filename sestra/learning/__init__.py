"""Everything that learns, and all that needs torch."""
