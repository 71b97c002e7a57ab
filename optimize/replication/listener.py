"""Who hears how a search goes: the contract, which the progress on stderr fulfils."""

from __future__ import annotations


class Progress:
    """Hears how a search goes; this one keeps it to itself."""

    def start(self, phase: str, total: int, done: int = 0, seconds: float | None = None) -> None:
        """A phase begins; a total of 0 is not known.

        Args:
            phase: what is done in it.
            total, done: of it in all, and already.
            seconds: after which the search ends; None if it does not depend on time.
        """

    def expect(self, total: int) -> None:
        """As much as this will be done in all, as is known by now; what is to come takes other times."""

    def update(self, done: int, failures: int = 0, best: str = "") -> None:
        """So much of the phase is done, and this was found so far."""

    def note(self, text: str) -> None:
        """A note in one line."""

    def finish(self) -> None:
        """The last phase is over."""
