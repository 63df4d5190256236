"""Settings of the paper's policy; sizes from supplementary D."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from sestra.errors import InputError
from sestra.learning.settings import setting

if TYPE_CHECKING:
    from sestra.data.vocabulary import Vocabulary
    from sestra.learning.policies.attention import AttentionPolicy
    from sestra.worlds.tables import Tables


@dataclass(frozen=True)
class AttentionConfig:
    """The attention policy of Suhr and Artzi (2018)."""

    embedding: int = setting(50, 1, 10_000)
    """Size of the embeddings of words and of action kinds and arguments."""
    hidden: int = setting(100, 1, 10_000)
    """Size of the instruction encoder (each direction) and of the decoder."""
    dropout: float = setting(0.0, 0, 0.99)
    """Dropout rate, in the paper's three places (the paper does not give the rate)."""
    previous_instructions: bool = setting(True, rare=True)
    """Whether previous instructions are attended to (without: the paper's first ablation)."""
    initial_state: bool = setting(True, rare=True)
    """Whether the state at the start of the instruction is attended to (without: the paper's fourth ablation; without both, its second)."""
    current_state: bool = setting(True, rare=True)
    """Whether the current state is attended to (without: the paper's third ablation)."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
        {
            "": {"learning_rate": 0.002, "final_lr_fraction": 0.1, "ema_decay": 0.997},
            "sestra": {"warm_up_fraction": 0.25},
            "supervised": {"epochs": 30, "dropout": 0.2, "oracle_fraction": 0.0},
        }
    )
    readings: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({"paper": {"dropout": 0.1}})

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        if not (self.previous_instructions or self.initial_state or self.current_state):
            raise InputError("nothing but the current instruction is attended to; leave previous instructions or one of the states on")

    def build(self, tables: Tables, vocabulary: Vocabulary) -> AttentionPolicy:
        from sestra.learning.policies.attention import AttentionPolicy

        return AttentionPolicy(self, tables, vocabulary)
