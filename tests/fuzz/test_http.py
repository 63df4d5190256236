"""Requests damaged at random: each is answered as the interface promises."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path


def test_damaged_requests():
    spec = spec_from_file_location("fuzz_http", Path(__file__).with_name("http.py"))  # by its path: Python itself has a module http
    assert spec is not None
    assert spec.loader is not None
    fuzzer = module_from_spec(spec)
    spec.loader.exec_module(fuzzer)
    counts, wrong = fuzzer.run(0.05, seed=0)
    assert wrong == []
    assert counts["200"]
    assert counts["422"]
