"""Agents that follow sequences of natural-language instructions, learnt from start and goal states alone."""

__version__ = "0.1.0"
