"""Nodes of a site with virtual reservations that are lost, drained and come back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from math import inf

from gridtune.agents.batch.timeline import Timeline
from gridtune.agents.wms.vres_site import VresSite
from gridtune.model.agenda import DECISION
from gridtune.model.batch.nodes import host_list
from gridtune.model.job import Job
from gridtune.model.vres import Execution, Gang


class VresAvailability(Timeline):
    """Keeps slots of all classes on some nodes from jobs; see `Timeline`.

    A job that holds a slot on a node that is lost is offered to its site again; one that only holds slots for
    others to work in (a pilot, a worker) is lost, as its owner knows.

    Args:
        site: whose nodes.
        requeues: how often a job whose node was lost runs again before it is lost itself.
    """

    def __init__(self, site: VresSite, requeues: float) -> None:
        super().__init__(site)
        self.site = site
        self.requeues = requeues
        self._failed: Counter[int] = Counter()  # failures by job
        self._causes: dict[int, set[str]] = {}  # by node
        site.keeper = self

    @property
    def out_slots(self) -> int:
        """Processors of nodes that are lost or drained."""
        site = self.site
        return len(self._causes) * site.units_per_node * site.units[0].capacity

    def released(self, empty: bool) -> None:
        """See `Keeper`."""
        self.rest(empty)

    def lose(self, nodes: Iterable[int], cause: str, until: float = inf) -> None:
        """See `Timeline`."""
        lost = list(nodes)
        self.failures += len(lost)
        self._shut(lost, cause, "node lost")
        units = {unit for node in lost for unit in self._units(node)}
        for follow in [self._take_off(one) for one in self.site.executions_on(units)]:
            follow()

    def shut(self, nodes: Iterable[int], cause: str, until: float = inf) -> None:
        """See `Timeline`."""
        self._shut(nodes, cause, "node drained")

    def open(self, nodes: Iterable[int], cause: str) -> None:
        """See `Timeline`."""
        for node in nodes:
            causes = self._causes[node]
            causes.discard(cause)
            if not causes:
                del self._causes[node]
                self._log("node back", node)
                for slot_class in self.site.classes:
                    slot_class.reopen(self._units(node))
        if self.site.depth:
            self.site.grid.agenda.at(self.site.grid.now, self._serve, None, DECISION)

    def _serve(self, _: object) -> None:
        """Once all that happens to nodes at a time has happened, start who waits."""
        for slot_class in self.site.classes:
            self.site.serve(slot_class)

    def _shut(self, nodes: Iterable[int], cause: str, event: str) -> None:
        for node in nodes:
            self._log(event, node)
            self._causes.setdefault(node, set()).add(cause)
            for slot_class in self.site.classes:
                slot_class.close(self._units(node))

    def _take_off(self, execution: Execution | Gang) -> Callable[[], object]:
        """End an execution with its node; what follows once the node is out."""
        job, site = execution.job, self.site
        now, counters = site.grid.now, site.grid.record.counters
        done, started = site.owners.pop(job.id)
        counters["killed_by_failure"] += 1
        self._failed[job.id] += 1
        if started is None and self._failed[job.id] <= self.requeues:
            job.kill(now)
            site.vacate(execution)
            return partial(self._offer_again, job, done)
        del self._failed[job.id]  # who submits it again submits a new job
        job.fail(now)
        counters["failed_jobs"] += job.runtime < inf
        site.vacate(execution)
        return partial(_tell, done, job)

    def _offer_again(self, job: Job, done: Callable[[Job], object] | None) -> None:
        """A job that has lost its slot gets another one, or waits, or goes back to its owner."""
        if not self.site.offer(job, done):
            _tell(done, job)

    def _units(self, node: int) -> range:
        width = self.site.units_per_node
        return range(node * width, (node + 1) * width)

    def _log(self, event: str, node: int) -> None:
        self.site.grid.record.log(self.time, event, 0, self.site.name, host_list(self.site.name, [node]))


def _tell(done: Callable[[Job], object] | None, job: Job) -> None:
    if done is not None:
        done(job)
