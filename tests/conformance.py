"""Random jobs through a batch site and through the slow reference: who starts when, and what was promised."""

import random

from gridtune.agents.batch.batch_site import BatchSite
from gridtune.model.batch.nodes import Counted
from gridtune.model.batch.policies import reservation
from gridtune.model.batch.quotas import Quota
from gridtune.model.grid import Grid
from gridtune.model.policy import make
from tests import reference_batch
from tests.reference_batch import by_priority, reserving
from tests.test_batch import play
from tests.test_batch_priority import CAPACITY, RESERVATIONS, RULES, random_works
from tests.test_quotas import limited

# Name, policy, reference, facts of the site.
CONFIGURATIONS = [
    ("fcfs", "fcfs", reference_batch.fcfs, {}),
    ("easy", "easy", reference_batch.easy, {}),
    ("conservative", "conservative", reference_batch.conservative, {}),
    *(
        (
            f"{rule}, {reservations} reservations",
            {"kind": "priority", "reservations": reservations, **RULES[rule][0]},
            by_priority(RULES[rule][1], reference),
            {},
        )
        for rule in ("multifactor", "sjf", "wfp3", "f1")
        for reservations, reference in RESERVATIONS.items()
    ),
    (
        "lxf, 3 reservations, 2 jobs and 8 processors for each user",
        {"kind": "priority", "reservations": 3, "rule": "lxf"},
        by_priority(RULES["lxf"][1], limited(reserving(3), 2, 8)),
        {"quota": Quota(user_running=2, user_slots=8)},
    ),
]


def differing_starts(configuration, jobs, seed):
    """How many of the jobs start at another time than the reference starts them."""
    name, policy, reference, facts = configuration
    works = random_works(random.Random(f"{name} {seed}"), jobs)
    made = [job.start for job in play(works, CAPACITY, policy, **facts).record.jobs]
    reference_batch.schedule(works, CAPACITY, reference)
    return sum(start != work.start for start, work in zip(made, works, strict=True))


def broken_promises(policy, jobs, seed):
    """How many jobs, each promising no less than it takes, start later than planned when they came first.

    Returns:
        Broken promises, and promises made.
    """
    works = random_works(random.Random(f"promise {seed}"), jobs)
    for work in works:
        work.estimate = max(1, work.estimate, work.runtime)  # to reserve no time keeps nobody out
    promised = {}
    grid = Grid()
    true = make("batch", policy)
    policy_starts = true.starts

    class Watched(type(true)):
        """The policy, with the plan of the first job that does not start written down."""

        def starts(self, cluster, now):
            chosen = policy_starts(cluster, now)
            order = list(cluster.in_order())
            head = next((job for job in order if job not in chosen), None)
            # Jobs before the head start now; those behind it may only use what it leaves.
            if head is not None and head.id not in promised:
                before = order[: order.index(head)]
                free = cluster.free - sum(job.processors for job in before)
                if head.processors > free:
                    promised[head.id] = reservation(head, free, cluster, before, now)[0]
            return chosen

    site = BatchSite(grid, "site", Counted(CAPACITY), Watched())

    def arrive(work):
        facts = {"processors": work.processors, "estimate": float(work.estimate)}
        site.submit(grid.record.job("user", work.submit, float(work.runtime), **facts))

    grid.agenda.feed((work.submit, arrive, work) for work in works)
    grid.run()
    starts = {job.id: job.start for job in grid.record.jobs}
    return sum(starts[job] > start for job, start in promised.items()), len(promised)
