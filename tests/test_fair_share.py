"""Fair share over a tree of accounts: Slurm's two algorithms by hand and against slow references."""

from fractions import Fraction
from math import inf, log, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridtune.model.batch.cluster import Cluster
from gridtune.model.batch.fair_share import ALGORITHMS, Accounts, FairShareLedger, classic, fair_tree
from gridtune.model.batch.ledger import Ledger
from gridtune.model.job import Job
from gridtune.model.policy import PolicyError, make
from tests.reference_batch import Work
from tests.test_batch import play


def charged(accounts, uses, shares=()):
    """A tree whose owners have used something: name, account, shares by name and use of each."""
    tree = accounts.tree([(owner, account, owner) for owner, account, _ in uses], dict(shares))
    tree.charge({owner: used for owner, _, used in uses})
    return tree


def all_of(algorithm, tree):
    return algorithm(tree, tree.owners.keys(), 1.0)


def test_classic_shares_by_hand():
    """Two accounts with 3 and 1 shares; use 40 and 60; the second has two users of use 60 and 0."""
    accounts = Accounts({"a": "", "b": ""}, {"a": 3.0, "b": 1.0})
    factors = all_of(classic, charged(accounts, [("x", "a", 40.0), ("y", "b", 60.0), ("z", "b", 0.0)]))
    # x: S = 3/4, U = 0.4; y: S = 1/8, U = 0.6 + (0.6 - 0.6)/2; z: S = 1/8, U = 0 + (0.6 - 0)/2 = 0.3
    assert factors == pytest.approx({"x": 2 ** -(0.4 / 0.75), "y": 2**-4.8, "z": 2**-2.4})


OWNERS = ["a\nu", "a\nv", "b\nu", "c\nw", "c\nx", "d\ny"]


@given(
    st.lists(
        st.tuples(st.sets(st.sampled_from(OWNERS), min_size=1), st.sampled_from(OWNERS), st.integers(1, 9)),
        max_size=8,
    ),
    st.dictionaries(st.sampled_from("uvwxy"), st.floats(0.1, 9.0)),
    st.sampled_from((0.5, 1.0, 3.0)),
    st.sampled_from((inf, 100.0)),
    st.booleans(),
)
def test_a_tree_kept_from_pass_to_pass_is_that_made_anew(passes, shares, damping, half, by_account):
    accounts = Accounts({"a": "b", "b": "", "idle": ""}, {"a": 2.0, "b": 0.7, "idle": 1.0})
    ledger = FairShareLedger(half, accounts, shares, by_account=by_account)
    for at, (waiting, starts, processors) in enumerate(passes):
        now, uses = 10.0 * at, ledger.all_used(10.0 * at)
        owners = [
            (one, account if by_account else None, user if by_account else one)
            for one in sorted({*waiting, *uses})
            for account, user in [one.split("\n")]
        ]
        anew = accounts.tree(owners, shares)
        anew.charge(uses)
        for name, algorithm in ALGORITHMS.items():
            every = algorithm(anew, anew.owners.keys(), damping)
            found = ledger.factors(waiting, now, name, damping)
            assert found == {one: every[one] for one in waiting}
        ledger.hold(starts, processors, now)


def test_an_account_that_used_nothing_has_shares_all_the_same():
    accounts = Accounts({"a": "", "idle": ""}, {"a": 1.0, "idle": 1.0})
    assert all_of(classic, charged(accounts, [("x", "a", 5.0)])) == {"x": 0.25}


def test_fair_tree_ranks_accounts_before_their_users():
    accounts = Accounts({"a": "", "b": ""}, {"a": 1.0, "b": 1.0})
    # b has used less: all of its users come before those of a, however much they used.
    uses = [("p", "a", 1.0), ("q", "a", 59.0), ("r", "b", 39.0), ("s", "b", 1.0)]
    assert all_of(fair_tree, charged(accounts, uses)) == {"s": 1.0, "r": 0.75, "p": 0.5, "q": 0.25}


def test_fair_tree_ties():
    accounts = Accounts({"a": "", "b": ""}, {"a": 1.0, "b": 1.0})
    # a and b tie: their users are ranked together. p and r tie, and share a rank.
    uses = [("p", "a", 10.0), ("q", "a", 30.0), ("r", "b", 10.0), ("s", "b", 30.0)]
    assert all_of(fair_tree, charged(accounts, uses)) == {"p": 1.0, "r": 1.0, "q": 0.5, "s": 0.5}
    # A user beside an account, both of the same level: the best user of the account shares the rank.
    lone = Accounts({"a": ""}, {"a": 1.0})
    uses = [("u", None, 40.0), ("p", "a", 10.0), ("q", "a", 30.0)]
    assert all_of(fair_tree, charged(lone, uses)) == {"u": 1.0, "p": 1.0, "q": pytest.approx(1 / 3)}


@st.composite
def forests(draw):
    """Parents and shares of accounts, and owners with their accounts, shares and uses, in whole numbers."""
    count = draw(st.integers(0, 5))
    parents = {f"a{k}": draw(st.sampled_from(["", *(f"a{j}" for j in range(k))])) for k in range(count)}
    shares = {name: draw(st.integers(1, 3)) for name in parents}
    owners = {
        f"u{k}": (draw(st.sampled_from([*parents, "new"])), draw(st.integers(1, 3)), draw(st.integers(0, 4)))
        for k in range(draw(st.integers(1, 6)))
    }
    return parents, shares, owners


def paths(parents, owners):
    """The names from below the root down to each owner, and of accounts."""

    def above(name):
        return (*above(parents[name]), name) if parents.get(name) else (name,)

    accounts = {above(name) for name in parents} | {above(account) for account, _, _ in owners.values()}
    accounts |= {path[:length] for path in accounts for length in range(1, len(path))}
    return accounts, {(*above(account), owner): owner for owner, (account, _, _) in owners.items()}


def facts(forest):
    """Shares over siblings and use of everything by path, in fractions."""
    parents, shares, owners = forest
    accounts, leaves = paths(parents, owners)
    own = {path: shares.get(path[-1], 1) for path in accounts}
    own |= {path: owners[owner][1] for path, owner in leaves.items()}
    used = {
        path: Fraction(sum(owners[owner][2] for leaf, owner in leaves.items() if leaf[: len(path)] == path))
        for path in own
    }
    part = {
        path: Fraction(shares_, sum(s for other, s in own.items() if other[:-1] == path[:-1]))
        for path, shares_ in own.items()
    }
    return leaves, part, used, sum(owner[2] for owner in owners.values())


def tree(forest):
    parents, shares, owners = forest
    uses = [(owner, account, float(used)) for owner, (account, _, used) in owners.items()]
    accounts = Accounts(parents, {name: float(share) for name, share in shares.items()})
    return charged(accounts, uses, {owner: float(share) for owner, (_, share, _) in owners.items()})


@settings(max_examples=80, deadline=None)
@given(forest=forests())
def test_classic_is_that_of_the_formula(forest):
    leaves, part, used, total = facts(forest)

    def effective(path):
        actual = used[path] / total if total else Fraction(0)
        return actual if len(path) == 1 else actual + (effective(path[:-1]) - actual) * part[path]

    expected = {
        owner: 2.0 ** -float(effective(path) / prod(part[path[:n]] for n in range(1, len(path) + 1)))
        for path, owner in leaves.items()
    }
    assert all_of(classic, tree(forest)) == pytest.approx(expected)


@settings(max_examples=80, deadline=None)
@given(forest=forests())
def test_fair_tree_is_that_of_the_definition(forest):
    """By the levels on the way down: who is ahead at the first level where two ways differ is ahead."""
    leaves, part, used, _ = facts(forest)

    def level(path):
        above = sum(used[other] for other in used if other[:-1] == path[:-1])
        return part[path] * above / used[path] if used[path] else inf

    ways = {owner: [level(path[:n]) for n in range(1, len(path) + 1)] for path, owner in leaves.items()}

    ranks = all_of(fair_tree, tree(forest))
    assert set(ranks) == set(ways)
    for one in ways:
        for other in ways:
            shortest = min(len(ways[one]), len(ways[other]))
            if ways[one][:shortest] > ways[other][:shortest]:
                assert ranks[one] > ranks[other]
            elif ways[one] == ways[other]:
                assert ranks[one] == ranks[other]
            elif ways[one] == ways[other][:shortest]:
                assert ranks[one] >= ranks[other]  # an owner that ties with an account
    assert max(ranks.values()) == 1.0
    assert all((rank * len(ranks)) == pytest.approx(round(rank * len(ranks))) for rank in ranks.values())


def test_the_account_that_used_less_goes_first():
    # One processor; users 1 and 2 are of account "a", 0 of "b"; user-1 runs first, for 10 s.
    works = [Work(1, 0, 10, 1, 10), Work(2, 1, 5, 1, 5), Work(3, 2, 5, 1, 5)]
    policy = {
        "kind": "priority",
        "weight_fairshare": 1000.0,
        "by": "account",
        "reservations": 0,
        "accounts": {"a": {"shares": 1}, "b": {"shares": 1}},
    }
    groups = {"user-1": "a", "user-2": "a", "user-0": "b"}
    for algorithm in ("classic", "fair-tree"):
        made = play(works, 1, policy | {"algorithm": algorithm}, groups=groups)
        # user-2 has used nothing, but its account has: user-0 of the other account passes it.
        assert [job.start for job in made.record.jobs] == [0, 15, 10]
        alone = play(works, 1, policy | {"algorithm": algorithm, "by": "user", "accounts": {}}, groups=groups)
        assert [job.start for job in alone.record.jobs] == [0, 10, 15]


@pytest.mark.parametrize(
    ("accounts", "said"),
    [
        ({"a": {"shares": 0}}, "accounts.a.shares: 0 .* above 0"),
        ({"a": {"parent": "b"}}, "accounts.a.parent: .*'b'; .* a$"),
        ({"a": {"parent": "b"}, "b": {"parent": "a"}}, "accounts.a.parent: a in b in a"),
        ({"a": {"parent": "a"}}, "accounts.a.parent: a in a"),
        ({"a": {"weight": 2}}, "accounts.a: .*weight; .*shares, parent"),
        ({"a": 2}, "accounts.a: 2 .*table"),
        ([], "accounts: .* table"),
    ],
)
def test_accounts_that_make_no_tree_are_refused(accounts, said):
    with pytest.raises(PolicyError, match=said):
        make("batch", {"kind": "priority", "by": "account", "accounts": accounts})


def test_accounts_need_their_users_counted_by_account():
    with pytest.raises(PolicyError, match='needs by = "account"'):
        make("batch", {"kind": "priority", "accounts": {"a": {}}})


def test_use_is_what_was_held_and_fades():
    book = Ledger(half_life=10.0)
    book.hold("a", 2, 0.0)
    rate = log(2) / 10.0
    assert book.used("a", 10.0) == pytest.approx(2 * (1 - 0.5) / rate)
    book.hold("a", 1, 10.0)
    assert book.used("a", 20.0) == pytest.approx((2 * (0.5 - 0.25) + 3 * (1 - 0.5)) / rate)
    book.hold("a", -3, 20.0)
    assert book.used("a", 40.0) == pytest.approx(book.used("a", 20.0) / 4)
    assert book.used("b", 40.0) == 0.0
    assert list(book.all_used(40.0)) == ["a"]
    lasting = Ledger(inf)
    lasting.hold("a", 3, 5.0)
    lasting.hold("a", -1, 10.0)
    assert lasting.used("a", 20.0) == 3 * 5 + 2 * 10


def test_an_account_that_names_no_shares_has_one():
    some, same = ({"a": {"shares": 2.0}, "b": facts} for facts in ({}, {"shares": 1.0}))
    facts = {"weight_age": 0.0, "weight_fairshare": 1.0, "half_life": 1e9}
    made = []
    for accounts in (some, same):
        policy = make("batch", {"kind": "priority", "by": "account", "accounts": accounts, **facts})
        cluster = Cluster(4, ledger=policy.ledger())
        cluster.ledger.hold("a\nu", 3, 0.0)
        cluster.ledger.hold("b\nv", 2, 0.0)
        for number, owner in enumerate(("a\nu", "b\nv")):
            cluster.enqueue(Job(number, "anyone", 0.0, 9.0), owner=owner)
        made.append(policy._fair_shares(cluster, 10.0))
    assert made[0] == made[1]
    # a used 3/5 with 2/3 of the shares, b 2/5 with 1/3
    assert made[0] == pytest.approx({"a\nu": 2 ** -(0.6 / (2 / 3)), "b\nv": 2 ** -(0.4 / (1 / 3))})
