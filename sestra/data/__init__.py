"""Interactions: read from files, downloaded, generated and batched."""
