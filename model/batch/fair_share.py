"""Fair share over a tree of accounts: what past use makes of the priority of its owner."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from math import inf
from operator import itemgetter

from gridtune.model.batch.ledger import Ledger

Factors = dict[str, float]


@dataclass(slots=True, eq=False)
class Member:
    """An account, or an owner of jobs, among the members of the account above it.

    Attributes:
        shares: of what the account above has, relative to those of its siblings; above 0.
        used: faded processor-seconds, with those of all members.
        owner: whose jobs; None for an account.
        members: of an account, by name; owners and accounts may have the same names.
        together: shares of all members.
        owners: how many there are, in an account and all below it.
        only: the owner, where there is nothing else in an account.
    """

    shares: float = 1.0
    used: float = 0.0
    owner: str | None = None
    members: dict[tuple[bool, str], Member] = field(default_factory=dict)
    together: float = 0.0
    owners: int = 1
    only: str | None = None

    def summed(self) -> Member:
        """This member, with what all below it have together."""
        self.only = self.owner
        if self.owner is None:
            below = [member.summed() for member in self.members.values()]
            self.together = sum(member.shares for member in below)
            self.owners = sum(member.owners for member in below)
            self.only = below[0].only if len(below) == 1 else None
        return self


@dataclass(frozen=True)
class Tree:
    """Accounts and owners, and what they have used.

    Attributes:
        root: of all.
        owners: each with the accounts above it but the root, the highest first.
    """

    root: Member
    owners: Mapping[str, tuple[Member, Sequence[Member]]]

    def charge(self, uses: Mapping[str, float]) -> None:
        """Set faded processor-seconds of owners, 0 for those that are not named, and of all above them."""
        for _, above in self.owners.values():
            for account in above:
                account.used = 0.0
        total = 0.0
        for name, (owner, above) in self.owners.items():
            owner.used = used = uses.get(name, 0.0)
            total += used
            for account in above:
                account.used += used
        self.root.used = total


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

    def tree(self, owners: Iterable[tuple[str, str | None, str]], shares: Mapping[str, float]) -> Tree:
        """All declared accounts, those of owners, and the owners; nobody has used anything.

        Args:
            owners: each with its account (None if it is in none) and its name in `shares`.
            shares: of owners by name; 1 for all others.
        """
        root, placed = Member(), dict[str, tuple[Member, Sequence[Member]]]()
        for account in self.parents:
            self._descend(root, account)
        for owner, within, name in owners:
            above = [root] if within is None else self._descend(root, within)
            leaf = above[-1].members[False, owner] = Member(shares.get(name, 1.0), owner=owner)
            placed[owner] = leaf, above[1:]
        return Tree(root.summed(), placed)

    def _descend(self, root: Member, account: str) -> list[Member]:
        """All accounts from the root to one, which is added if it is not there."""
        way = [root]
        for name in self.path(account):
            way.append(way[-1].members.setdefault((True, name), Member(self.shares.get(name, 1.0))))
        return way


def classic(tree: Tree, waiting: Iterable[str], damping: float) -> Factors:
    """Factor 2^(-(U/S)/damping) of each owner that waits.

    S is the product of the shares on the way from the root, each over those of all siblings. U is the part of
    all use: the owner's own if it is a member of the root. Below, U = A + (U of the account above - A) s with
    the owner's own part A and s its shares over those of all siblings: who has used little pays for others of
    its account.

    Source: Slurm, classic fair-share algorithm.
    """
    factors: Factors = {}
    total = tree.root.used
    for name in waiting:
        owner, above = tree.owners[name]
        share, effective = 1.0, 0.0
        for account, member in pairwise([tree.root, *above, owner]):
            part = member.shares / account.together
            used = member.used / total if total > 0 else 0.0
            effective = used if account is tree.root else used + (effective - used) * part
            share *= part
        factors[name] = 2.0 ** (-(effective / share) / damping)
    return factors


def fair_tree(tree: Tree, waiting: Iterable[str], damping: float) -> Factors:
    """Rank of each owner that waits over the number of owners, the best one having 1, whatever the `damping`.

    At each level those come first whose shares, over those of their siblings, are largest against what they
    have used, over what the account above has: all owners of an account come before or after those of its
    siblings. Ties: owners of equal rank share it, and with the best owner of an account that ties with them;
    members of accounts that tie are ranked together.

    Source: Slurm, Fair Tree algorithm.
    """
    wanted = {member for name in waiting for member in (tree.owners[name][0], *tree.owners[name][1])}
    ranks: dict[str, int] = {}

    def visit(level: list[tuple[float, Member]], rank: int, shared: int | None) -> None:
        """Rank the members of a level from `rank` down, the first of them as `shared` if there is one."""
        level.sort(key=itemgetter(0))
        values = [value for value, _ in level]
        ahead = [0, *accumulate(member.owners for _, member in level)]
        for value in {value for value, member in level if member in wanted}:
            first, last = bisect_left(values, value), bisect_right(values, value)
            members = [member for _, member in level[first:last]]
            owners = [member.owner for member in members if member.owner is not None]
            start = rank - ahead[first]
            same = shared if first == 0 else None
            ranks.update(dict.fromkeys(owners, start if same is None else same))
            same = start if same is None and owners else same
            start -= len(owners)
            accounts = [member for member in members if member.owner is None]
            if len(accounts) == 1 and accounts[0].only is not None:  # as most often
                ranks[accounts[0].only] = start if same is None else same
            elif accounts:
                visit([each for member in accounts for each in _levels(member)], start, same)

    count = tree.root.owners
    visit(_levels(tree.root), count, None)
    return {owner: ranks[owner] / count for owner in waiting}


def _levels(account: Member) -> list[tuple[float, Member]]:
    """The members of an account, each with its part of the use over its part of the shares, negative."""
    together, used = account.together, account.used
    return [
        # Multiplied first: ties are found where shares and uses are whole numbers.
        (-(member.shares * used / (together * member.used)) if member.used > 0 else -inf, member)
        for member in account.members.values()
    ]


ALGORITHMS: Mapping[str, Callable[[Tree, Set[str], float], Factors]] = {
    "classic": classic,
    "fair-tree": fair_tree,
}


class FairShareLedger(Ledger):
    """A ledger whose owners have places in a tree of accounts.

    Args:
        half_life: see `Ledger`.
        accounts: the accounts of the site.
        shares: of owners; by name of the user where accounts count.
        by_account: whether owners are users within accounts, on a line each; or members of the root.
    """

    def __init__(
        self, half_life: float, accounts: Accounts, shares: Mapping[str, float], *, by_account: bool
    ) -> None:
        super().__init__(half_life)
        self._accounts_of_site, self._shares, self._by_account = accounts, shares, by_account
        self._tree, self._known = Tree(Member(), {}), (0, set[str]())

    def factors(self, waiting: Set[str], now: float, algorithm: str, damping: float) -> Factors:
        """The fair-share factor of everybody who waits, by `now` (s)."""
        uses = self.all_used(now)
        known = len(uses), waiting - uses.keys()  # who has used anything once stays
        if known != self._known:
            owners = sorted(uses.keys() | waiting)
            self._tree = self._accounts_of_site.tree(map(self._placed, owners), self._shares)
            self._known = known
        self._tree.charge(uses)
        return ALGORITHMS[algorithm](self._tree, waiting, damping)

    def _placed(self, owner: str) -> tuple[str, str | None, str]:
        """An owner with its account and its name, as a tree takes it."""
        account, _, user = owner.rpartition("\n")
        return (owner, account, user) if self._by_account else (owner, None, owner)
