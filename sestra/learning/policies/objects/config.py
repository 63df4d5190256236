"""Settings of the object policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from sestra.errors import InputError
from sestra.learning.settings import setting

if TYPE_CHECKING:
    from sestra.data.vocabulary import Vocabulary
    from sestra.learning.policies.objects.policy import ObjectPolicy
    from sestra.worlds.tables import Tables

Past = Literal["none", "turn-before", "pointed"]


@dataclass(frozen=True)
class ObjectConfig:
    """The object policy of sestra."""

    embedding: int = setting(64, 1, 10_000)
    """Size of the word embeddings."""
    size: int = setting(128, 1, 10_000)
    """Size of the vectors of objects, words and changes."""
    layers: int = setting(2, 1, 100)
    """Layers, each with cross-attention to the memory and self-attention among the objects."""
    heads: int = setting(4, 1, 1_000)
    """Attention heads."""
    dropout: float = setting(0.1, 0, 0.99)
    """Dropout rate, on word embeddings and after every sublayer."""
    past: Past = setting("turn-before", rare=True)
    """What an object knows of earlier turns: nothing, its features when the turn before began, or those in turns that words point at."""
    ranks: bool = setting(True, rare=True)
    """Whether similar objects to the left and right, and those that hold more or less, are counted: "the second yellow beaker"."""
    numbers: bool = setting(False, rare=True)
    """Whether words that name the same number, as "5th", "fifth" and "five" do, share a part of their embeddings."""
    changes: bool = setting(True, rare=True)
    """Whether the memory holds what earlier turns changed, beside their words."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
        {
            "": {
                "learner": "best-action",
                "optimiser": "adam",
                "epochs": 12,
                "final_lr_fraction": 0.02,
                "ema_decay": 0.999,
                "max_grad_norm": 1.0,
                "word_dropout": 0.05,
                "oracle_fraction": 0.5,
            }
        }
    )

    def check(self) -> None:
        """Raise InputError for a value that makes no sense."""
        if self.size % (2 * self.heads):
            raise InputError(f"--size {self.size}: expected a multiple of twice the number of heads, {2 * self.heads}")

    def build(self, tables: Tables, vocabulary: Vocabulary) -> ObjectPolicy:
        from sestra.learning.policies.objects.policy import ObjectPolicy

        return ObjectPolicy(self, tables, vocabulary)
