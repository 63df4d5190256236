"""Policies: what looks at instructions and states and scores actions."""
