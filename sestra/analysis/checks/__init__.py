"""Capability checks in the manner of CheckList (Ribeiro et al. 2020): sentences whose outcome is known."""
