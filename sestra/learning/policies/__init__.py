"""Policies, one network per file."""
