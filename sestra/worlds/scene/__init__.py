"""Scene: everything that belongs to this world."""
