"""Learners, one objective per file; none of them imports torch before it is used."""
