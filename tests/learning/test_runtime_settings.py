"""What a process asks of the machine that it runs on."""

from __future__ import annotations

import sys

import torch

from sestra.learning import runtime_settings as machine
from sestra.learning.runtime_settings import use_one_core


def test_one_thread_on_any_machine(monkeypatch):
    threads = torch.get_num_threads()
    try:
        for platform in (sys.platform, "elsewhere"):
            monkeypatch.setattr(machine.sys, "platform", platform)
            torch.set_num_threads(2)
            use_one_core()
            assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(threads)


def test_older_allocators_are_asked_for_less(monkeypatch):
    """By itself the threshold for trimming would make things worse, so it is set only where the other one was."""

    class Library:
        def __init__(self, most: int) -> None:
            self.most, self.asked = most, []

        def mallopt(self, name, size):
            self.asked.append((name, size))
            return int(size <= self.most)

    monkeypatch.setattr(machine.sys, "platform", "linux")
    large, small = machine.KEPT
    map_, trim = machine.M_MMAP_THRESHOLD, machine.M_TRIM_THRESHOLD
    for most, asked in (
        (large, [(map_, large), (trim, large)]),
        (small, [(map_, large), (map_, small), (trim, large)]),
        (0, [(map_, large), (map_, small)]),
    ):
        library = Library(most)
        monkeypatch.setattr(machine.ctypes, "CDLL", lambda _, library=library: library)
        use_one_core()
        assert library.asked == asked
