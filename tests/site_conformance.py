"""Random jobs through a site whose nodes come and go, and through the slow reference: who starts when."""

from copy import deepcopy
from math import inf
from random import Random

from gridtune.agents.batch.availability import AdvanceReservation, Availability
from gridtune.agents.batch.batch_site import BatchSite
from gridtune.agents.batch.outages import Outage, schedule_outages, schedule_reservation
from gridtune.agents.batch.qos import QosPreemption, Terms
from gridtune.model.batch.nodes import Named
from gridtune.model.grid import Grid
from gridtune.model.policy import make
from tests.reference_site import Reference, Task, World

LEVELS = {"job": 0.0, "normal": 1.0, "urgent": 2.0}
KINDS = {level: kind for kind, level in LEVELS.items()}
RULES = {
    "multifactor": lambda task, now: (task.queued, task.id),
    "sjf": lambda task, now: (task.estimate, task.queued, task.id),
}
KINDS_OF_SITES = ("plain", "away", "qos")
PLAIN = {"fcfs": 0, "easy": 1, "conservative": inf}


def draw_world(draw, kind):
    """What befalls a site, and the policy that is to be like it.

    Args:
        draw: random numbers.
        kind: `plain`, `away` (nodes out, reservations) or `qos` (the same, and preemption).
    """
    capacity = draw.randint(1, 8)
    world = World(capacity)
    if kind != "plain":
        for number in range(draw.choice((0, 1, 3))):
            begin = draw.randint(0, 90) + 0.5
            nodes = draw.sample(range(capacity), draw.randint(1, capacity))
            # One after the other on each node.
            nodes = [node for node in nodes if all(node not in known for _, _, known, _ in world.outages)]
            if nodes:
                world.outages.append((begin, begin + draw.choice((7, 30, 200)), nodes, bool(number % 2)))
        for _ in range(draw.choice((0, 0, 1, 2))):
            begin = draw.randint(0, 90) + 0.25
            world.reservations.append((begin, begin + draw.choice((5, 25)), draw.randint(1, capacity)))
    if draw.random() < 0.3:
        policy = draw.choice(list(PLAIN))
        world.reserved = PLAIN[policy]
    else:
        rule = draw.choice(list(RULES))
        world.reserved = draw.choice((0, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, inf))
        world.window = draw.choice((inf, 3.0, 10.0, 40.0))
        world.order = RULES[rule]
        reservations = "all" if world.reserved == inf else world.reserved
        policy = {"kind": "priority", "rule": rule, "reservations": reservations, "window": world.window}
    if kind == "qos":
        world.exempt = draw.choice((0.0, 3.0, 10.0, 30.0))
        world.oldest = draw.random() < 0.5
    return world, policy


def draw_tasks(draw, world, count):
    """Jobs that keep the site more than busy, some of them shorter and some longer than promised."""
    tasks, now = [], 0
    for number in range(1, count + 1):
        now += draw.choice((0, 0, 1, 2, 5, 9))
        runtime = draw.choice((0, 1, 2, 5, 9, 30)) if world.exempt is None else draw.randint(1, 30)
        estimate = max(1, runtime + draw.choice((0, 0, 1, 5, 20, -3)))  # to reserve no time keeps nobody out
        level = draw.choice(list(KINDS)) if world.exempt is not None else 0.0
        tasks.append(Task(number, now, runtime, draw.randint(1, world.capacity), estimate, level))
    return tasks


def starts(world, policy, tasks, resources=None, ends=None):
    """When the site starts the jobs; for the last time, where it does so more than once.

    When the run is over is added to `ends`.
    """
    grid = Grid()
    pool = Named("n", [1.0] * world.capacity)
    site = BatchSite(grid, "site", pool, make("batch", policy), resources=resources)
    if world.outages or world.reservations:
        availability = Availability(site, pool)
        schedule_outages(availability, [Outage(*outage) for outage in world.outages])
        for number, facts in enumerate(world.reservations):
            schedule_reservation(availability, AdvanceReservation(f"r{number}", *facts), inf)
    if world.exempt is not None:
        victims = "oldest" if world.oldest else "youngest"
        QosPreemption(site, Terms(levels=LEVELS, exempt=world.exempt, victims=victims))

    def arrive(task):
        facts = {"processors": task.processors, "estimate": float(task.estimate), "kind": KINDS[task.level]}
        site.submit(grid.record.job("ann", task.submit, float(task.runtime), **facts))

    grid.agenda.feed((task.submit, arrive, task) for task in tasks)
    grid.run()
    if ends is not None:
        ends.append(grid.now)
    return [job.start for job in grid.record.jobs]


def differing_starts(kind, count, seed):
    """How many of so many random jobs start at another time than the reference starts them."""
    draw = Random(f"{kind} {seed}")
    world, policy = draw_world(draw, kind)
    tasks = draw_tasks(draw, world, count)
    made = starts(world, policy, tasks)
    return sum(one != other for one, other in zip(made, Reference(world, deepcopy(tasks)).run(), strict=True))
