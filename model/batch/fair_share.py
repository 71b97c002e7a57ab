"""Fair share over a tree of accounts: what past use makes of the priority of its owner."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from itertools import groupby
from math import inf

Factors = dict[str, float]


@dataclass(slots=True)
class Member:
    """An account, or an owner of jobs, among the members of the account above it.

    Attributes:
        shares: of what the account above has, relative to those of its siblings; above 0.
        used: faded processor-seconds, with those of all members.
        owner: whose jobs; None for an account.
        members: of an account, by name; owners and accounts may have the same names.
    """

    shares: float = 1.0
    used: float = 0.0
    owner: str | None = None
    members: dict[tuple[bool, str], Member] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Accounts:
    """The accounts of a site, some within others.

    Attributes:
        parents: the account above each one that is declared; "" for none.
        shares: of each declared account; an account that is not declared has 1 and none above it.
    """

    parents: Mapping[str, str]
    shares: Mapping[str, float]

    def path(self, account: str) -> tuple[str, ...]:
        """The account and those above it, the highest first."""
        names = [account]
        while above := self.parents.get(names[-1], ""):
            names.append(above)
        return tuple(reversed(names))

    def tree(self, uses: Iterable[tuple[str, str | None, str, float]], shares: Mapping[str, float]) -> Member:
        """The root of all declared accounts, those of owners, and the owners.

        Args:
            uses: owner, its account (None if it is in none), its name in `shares`, faded processor-seconds.
            shares: of owners by name; 1 for all others.
        """
        root = Member()
        for account in self.parents:
            self._descend(root, account, 0.0)
        for owner, within, name, used in uses:
            root.used += used
            above = root if within is None else self._descend(root, within, used)
            above.members[False, owner] = Member(shares.get(name, 1.0), used, owner)
        return root

    def _descend(self, root: Member, account: str, used: float) -> Member:
        """The account in the tree, on the way to which all have used so much more."""
        at = root
        for name in self.path(account):
            at = at.members.setdefault((True, name), Member(self.shares.get(name, 1.0)))
            at.used += used
        return at


def classic(root: Member, damping: float) -> Factors:
    """Factor 2^(-(U/S)/damping) of each owner.

    S is the product of the shares on the way from the root, each over those of all siblings. U is the part of
    all use: the owner's own if it is a member of the root. Below, U = A + (U of the account above - A) s with
    the owner's own part A and s its shares over those of all siblings: who has used little pays for others of
    its account.

    Source: Slurm, classic fair-share algorithm.
    """
    factors: Factors = {}
    total = root.used

    def visit(account: Member, share: float, effective: float | None) -> None:
        together = sum(member.shares for member in account.members.values())
        for member in account.members.values():
            part = member.shares / together
            used = member.used / total if total > 0 else 0.0
            if effective is not None:
                used += (effective - used) * part
            if member.owner is None:
                visit(member, share * part, used)
            else:
                factors[member.owner] = 2.0 ** (-(used / (share * part)) / damping)

    visit(root, 1.0, None)
    return factors


def classic_alone(
    owners: Iterable[str], uses: Mapping[str, float], shares: Mapping[str, float], damping: float
) -> Factors:
    """What `classic` gives some owners who are all members of the root, to the last bit, without a tree.

    Args:
        owners: whose factors.
        uses: faded processor-seconds of all who have used any, in the order of names.
        shares: of owners by name; 1 for all others.
        damping: as of `classic`.
    """
    owners = set(owners)
    together, total = _all(uses.keys() | owners, uses, shares)
    factors: Factors = {}
    for owner in owners:
        part = uses.get(owner, 0.0) / total if total > 0 else 0.0
        factors[owner] = 2.0 ** (-(part / (shares.get(owner, 1.0) / together)) / damping)
    return factors


def fair_tree(root: Member, damping: float) -> Factors:
    """Rank of each owner over the number of owners, the best one having 1; `damping` does not matter.

    At each level those come first whose shares, over those of their siblings, are largest against what they
    have used, over what the account above has: all owners of an account come before or after those of its
    siblings. Ties: owners of equal rank share it, and with the best owner of an account that ties with them;
    members of accounts that tie are ranked together.

    Source: Slurm, Fair Tree algorithm.
    """
    ranks: dict[str, int] = {}

    def visit(level: list[tuple[float, Member]], rank: int, shared: int | None) -> int:
        """Rank the members of a level from `rank` down, the first of them as `shared` if there is one."""
        level.sort(key=lambda each: -each[0])
        for _, tied in groupby(level, key=lambda each: each[0]):
            members = [member for _, member in tied]
            owners = [member.owner for member in members if member.owner is not None]
            first = rank if shared is None else shared
            ranks.update(dict.fromkeys(owners, first))
            rank -= len(owners)
            below = [each for member in members if member.owner is None for each in _levels(member)]
            rank = visit(below, rank, first if owners or shared is not None else None) if below else rank
            shared = None
        return rank

    count = _owners(root)
    visit(_levels(root), count, None)
    return {owner: rank / count for owner, rank in ranks.items()}


def fair_tree_alone(
    owners: Iterable[str], uses: Mapping[str, float], shares: Mapping[str, float], damping: float
) -> Factors:
    """What `fair_tree` gives some owners who are all members of the root; see `classic_alone`."""
    owners = set(owners)
    members = uses.keys() | owners
    together, total = _all(members, uses, shares)
    levels = {}
    for owner in members:
        used = uses.get(owner, 0.0)
        levels[owner] = shares.get(owner, 1.0) * total / (together * used) if used > 0 else inf
    ascending = sorted(levels.values())
    return {owner: bisect_right(ascending, levels[owner]) / len(members) for owner in owners}


def _all(members: Set[str], uses: Mapping[str, float], shares: Mapping[str, float]) -> tuple[float, float]:
    """The shares, and the use, of all members of the root together."""
    together = sum(shares.get(name, 1.0) for name in sorted(members)) if shares else float(len(members))
    total = 0.0
    for used in uses.values():
        total += used  # not by `sum`, which rounds otherwise since Python 3.12
    return together, total


def _levels(account: Member) -> list[tuple[float, Member]]:
    """The members of an account, each with its part of the shares over its part of the use."""
    together = sum(member.shares for member in account.members.values())
    return [
        # Multiplied first: ties are found where shares and uses are whole numbers.
        (member.shares * account.used / (together * member.used) if member.used > 0 else inf, member)
        for member in account.members.values()
    ]


def _owners(account: Member) -> int:
    return sum(1 if member.owner is not None else _owners(member) for member in account.members.values())


ALGORITHMS: Mapping[str, Callable[[Member, float], Factors]] = {"classic": classic, "fair-tree": fair_tree}
ALONE = {"classic": classic_alone, "fair-tree": fair_tree_alone}  # where there are no accounts
