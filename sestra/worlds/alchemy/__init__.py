"""Alchemy: everything that belongs to this world."""
