"""User-level schedulers in scenarios: tasks of one user, by a master and workers or as plain grid jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from statistics import fmean

from gridtune.agents.wms.overlay import Master, MasterHabits
from gridtune.agents.wms.plain_user import PlainUser
from gridtune.agents.wms.sessions import FrontEnd, Session, open_sessions
from gridtune.agents.wms.workers import Errors, Submits
from gridtune.model.grid import Grid
from gridtune.model.job import Job
from gridtune.model.metrics.registry import SHARE, define
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.fields.laws import draws
from gridtune.scenarios.systems.batch import delay
from gridtune.scenarios.systems.vres import vres_sites
from gridtune.scenarios.systems.wms import wms_of
from gridtune.scenarios.tables.overlay import ErrorsSpec, OverlaySpec, SessionSpec
from gridtune.scenarios.tables.schema import ScenarioSpec

define(
    "efficiency", "", "maximize", "work of completed tasks over the time that jobs for them were in the grid"
)
define("tasks_left", "tasks", "minimize", "tasks of user-level schedulers that were not completed")
define("reconstruction_mean", "s", "minimize", "mean time until a reconstruction of a session is shown")
define(
    "slow_reconstructions",
    "",
    "minimize",
    "share of the reconstructions of all sessions that were not shown within the acceptable time",
    within=SHARE,
)


def check(spec: ScenarioSpec) -> None:
    """Whether user-level schedulers have somewhere to run.

    Raises:
        ValueError: naming what is missing.
    """
    if not spec.overlay:
        return
    reserved = [site for site in spec.site if site.vres is not None]
    if spec.wms is None and len(reserved) != 1:
        raise ValueError("overlay: needs brokers ([wms]) or one [[site]] with shares of classes in `vres`")


def build(grid: Grid, spec: ScenarioSpec) -> None:
    """Put the user-level schedulers of a scenario on the grid."""
    if not spec.overlay:
        return
    gateway: Submits = wms_of(grid) or next(iter(vres_sites(grid).values()))
    users: list[Master | PlainUser] = []
    sessions: list[Session] = []
    for part in spec.overlay:
        _check_width(grid, part)
        if part.session is None:
            users.append(_place(grid, part, gateway))
        else:
            sessions += _sessions(grid, part, part.session, gateway)
    users += [session.master for session in sessions]
    if sessions:
        _measure(grid, sessions)

    def efficiency() -> float:
        work, held = (sum(values) for values in zip(*(user.efficiency() for user in users), strict=True))
        return work / held if held else 0.0

    grid.record.measure("efficiency", efficiency)
    grid.record.measure(
        "tasks_left", lambda: sum(task.state != "done" for user in users for task in user.tasks)
    )


def _place(grid: Grid, part: OverlaySpec, gateway: Submits) -> Master | PlainUser:
    stream = grid.streams.stream(f"workload:{part.name}:runtime")
    first = part.start + part.first_task
    plain = part.mode == "plain"
    tasks = [
        grid.record.job(
            part.name,
            # A task can begin once the last of its pieces has come.
            part.start if plain else first + (min((k + 1) * part.bundle, part.tasks) - 1) / part.rate,
            runtime,
            kind=part.role if plain else "task",
            group=part.name,
            processors=part.processors,
        )
        for k, runtime in enumerate(_bundled(part.runtime.draw(stream, part.tasks).tolist(), part.bundle))
    ]
    if plain:
        user: Master | PlainUser = PlainUser(grid, tasks, gateway, part.window)
    else:
        user = _probed(grid, part.name, Master(grid, tasks, _habits(grid, part, part.name), gateway))
    grid.agenda.at(part.start, user.begin)
    return user


def _probed(grid: Grid, name: str, master: Master) -> Master:
    """A master whose workers are sampled."""
    grid.record.probe(f"{name}.busy", lambda: master.busy)
    grid.record.probe(f"{name}.pool", lambda: len(master.workers))
    return master


def _bundled(pieces: Sequence[float], bundle: int) -> list[float]:
    """Run times of tasks, each of so many pieces, s."""
    return [sum(pieces[k : k + bundle]) for k in range(0, len(pieces), bundle)]


def _sessions(grid: Grid, part: OverlaySpec, spec: SessionSpec, gateway: Submits) -> list[Session]:
    """The users of interactive sessions, and what is measured of them."""
    later = max(1, round(spec.renewed * part.tasks))
    sizes = [part.tasks] + [later] * (spec.reconstructions - 1)
    result = part.bundle * spec.result_bytes / spec.bandwidth
    front_end = FrontEnd(part.rate / part.bundle, spec.bridge, result, spec.acceptable)
    sessions = []
    for k in range(spec.users):
        name = part.name if spec.users == 1 else f"{part.name}-{k + 1}"
        drawn = part.runtime.draw(grid.streams.stream(f"workload:{name}:runtime"), sum(sizes)).tolist()
        rounds = [_bundled([drawn.pop() for _ in range(size)], part.bundle) for size in sizes]
        think = delay(spec.think, grid, f"think:{name}")
        habits = _habits(grid, part, name)
        session = Session(grid, rounds, habits, gateway, front_end, part.first_task, think)
        _probed(grid, name, session.master)
        sessions.append(session)
    open_sessions(grid, sessions, part.start, delay(spec.gap, grid, f"sessions:{part.name}"))
    return sessions


def _measure(grid: Grid, sessions: Sequence[Session]) -> None:
    """Have it measured how long users wait for what they ask for; what is never shown takes for ever."""
    wanted = sum(len(session.rounds) for session in sessions)

    def slow() -> float:
        return 1.0 - sum(session.timely for session in sessions) / wanted

    def mean() -> float:
        responses = [response for session in sessions for response in session.responses]
        return fmean(responses) if len(responses) == wanted else inf

    grid.record.measure("reconstruction_mean", mean)
    grid.record.measure("slow_reconstructions", slow)


def _check_width(grid: Grid, part: OverlaySpec) -> None:
    """Whether tasks of several processors can ever start.

    Raises:
        ScenarioError: they cannot: a master would submit workers for ever.
    """
    sites = vres_sites(grid).values()
    probe = Job(0, part.name, 0.0, 0.0, kind=part.role, group=part.name, processors=part.processors)
    if part.processors > 1 and not any(site.suits(probe) for site in sites):
        known = [site.class_for(probe) for site in sites]
        widest = max((slot_class.widest for slot_class in known if slot_class is not None), default=0)
        raise ScenarioError(
            f"overlay.{part.name}.processors: {part.processors} fit nowhere; a job can have {widest} at most"
        )


def _habits(grid: Grid, part: OverlaySpec, name: str) -> MasterHabits:
    lifetime = part.lifetime
    return MasterHabits(
        name,
        part.role,
        part.workers,
        part.watch,
        1.0 / part.dispatch_rate,
        part.latency,
        part.detection,
        None if lifetime is None else draws(lifetime, grid.streams.stream(f"crash:{name}")).__next__,
        part.estimate,
        part.processors,
        part.patience,
        part.assignment,
        part.recovery,
        None if part.errors is None else _errors(grid, part.errors, name, part.bundle),
    )


def _errors(grid: Grid, spec: ErrorsSpec, name: str, bundle: int) -> Errors:
    """What goes wrong, each kind from random numbers of its own; a task fails if one of its pieces does."""

    def chance(kind: str, share: float) -> Callable[[], bool]:
        stream = grid.streams.stream(f"errors:{name}:{kind}")
        return lambda: bool(stream.random() < share)

    return Errors(
        chance("application", 1 - (1 - spec.application) ** bundle),
        chance("system", spec.system),
        chance("connection", spec.connection),
        delay(spec.after, grid, f"errors:{name}:after"),
    )
