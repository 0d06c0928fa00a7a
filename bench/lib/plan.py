"""How much of everything a run does."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Plan:
    systems: list[str]
    rounds: int
    quick: bool

    def rounds_of(self, kinds: Iterable[T]) -> Iterator[T]:
        """Every kind once a round, so that a busy moment hits all alike."""
        kinds = list(kinds)
        for _ in range(self.rounds):
            yield from kinds

    def pick(self, full: int, quick: int) -> int:
        return quick if self.quick else full
