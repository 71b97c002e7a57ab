"""Accounts of what owners have used, with old use fading."""

from __future__ import annotations

from math import exp, log


class Ledger:
    """A ledger counts the processor-seconds of each owner; every `half_life` (s) it forgets half of them.

    Use is charged continuously while processors are held: with r processors held, the account obeys
    U' = r - U ln 2 / half_life, which is solved exactly between changes.

    Args:
        half_life: s; more than 0, infinite to forget nothing.
    """

    def __init__(self, half_life: float) -> None:
        self.rate = log(2.0) / half_life
        self._accounts: dict[str, tuple[float, float, int]] = {}  # used, at time, processors held
        self._names: list[str] = []  # in order

    def hold(self, owner: str, change: int, now: float) -> None:
        """From `now` (s) on, the owner holds `change` more processors."""
        held = self._accounts[owner][2] if owner in self._accounts else 0
        self._accounts[owner] = (self.used(owner, now), now, held + change)

    def used(self, owner: str, now: float) -> float:
        """Faded processor-seconds that the owner has used by `now` (s)."""
        if owner not in self._accounts:
            return 0.0
        used, since, held = self._accounts[owner]
        if self.rate == 0.0:
            return used + held * (now - since)
        kept = exp(-self.rate * (now - since))
        return used * kept + held * (1.0 - kept) / self.rate

    def all_used(self, now: float) -> dict[str, float]:
        """Faded processor-seconds of everybody who has used anything, by name in order, by `now` (s)."""
        rate, accounts = self.rate, self._accounts
        if len(self._names) < len(accounts):
            self._names = sorted(accounts)
        if rate == 0.0:
            return {name: self.used(name, now) for name in self._names}
        made = {}
        for name in self._names:  # as `used`, without a call for each: a pass asks for all
            used, since, held = accounts[name]
            kept = exp(-rate * (now - since))
            made[name] = used * kept + held * (1.0 - kept) / rate
        return made
