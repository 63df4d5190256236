"""What people say in Scene beyond SCONE."""

from __future__ import annotations

from sestra.data.grammar import Talk
from sestra.worlds.scene.ambiguous import AMBIGUOUS
from sestra.worlds.scene.requests import FILLERS, REQUESTS
from sestra.worlds.scene.unfollowable import UNFOLLOWABLE

TALK = Talk(REQUESTS, AMBIGUOUS, UNFOLLOWABLE, FILLERS)
