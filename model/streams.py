"""Random streams: one per purpose, so that changing a policy never changes the workload drawn."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

HELD_OUT = 1_000_000  # replications from here on validate what a search has found, and are never used in it
AS_LOGGED = 2 * HELD_OUT  # replications from here on replay logs as they are, whatever resamples them
BUSIER = 3 * HELD_OUT  # replications from here on do so with `LOAD` times the jobs
TWICE = 5  # of so many jobs one comes twice there
LOAD = 1 + 1 / TWICE


class Streams:
    """Streams give each purpose an independent generator (`workload:lhcb`, `tie:sed-3`, …).

    Args:
        seed: of the experiment, a non-negative integer.
        replication: index of the run within the experiment. Equal (seed, replication, purpose)
            give equal streams, whatever other streams exist: common random numbers.

    Raises:
        ValueError: a negative seed or replication.
    """

    def __init__(self, seed: int, replication: int = 0) -> None:
        if seed < 0 or replication < 0:
            raise ValueError(f"seed and replication must not be negative, not {seed} and {replication}")
        self.seed = seed
        self.replication = replication
        self._made: dict[str, np.random.Generator] = {}

    def stream(self, purpose: str) -> np.random.Generator:
        """The generator of one purpose; the same object at every call."""
        made = self._made.get(purpose)
        if made is None:
            # A digest, not hash(): the key must not differ between processes.
            key = int.from_bytes(blake2b(purpose.encode(), digest_size=8).digest(), "little")
            sequence = np.random.SeedSequence([self.seed, self.replication, key])
            made = self._made[purpose] = np.random.default_rng(sequence)
        return made
