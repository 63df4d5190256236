"""Tangrams: everything that belongs to this world."""
