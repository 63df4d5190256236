"""What a process asks of the machine that it runs on."""

from __future__ import annotations

import ctypes
import sys

import torch

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
KEPT = (1 << 30, 1 << 25)
"""Blocks up to so many bytes stay with the process; the second is as many as an older glibc allows."""


def use_one_core() -> None:
    """One thread, since matrices as small as ours are not worth sharing out, and memory that stays with the process.

    By default glibc hands large blocks back as soon as they are free; to get them anew, page by page, takes up to a tenth of the time.
    """
    torch.set_num_threads(1)
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None and any(mallopt(M_MMAP_THRESHOLD, size) for size in KEPT):
        mallopt(M_TRIM_THRESHOLD, KEPT[0])  # only with the other: by itself it would have blocks of 128 KB and more handed back
