"""The object policy."""
