"""Workers of a Dask cluster, behind the interface that processes of this machine have."""

from __future__ import annotations

import hashlib
import logging
import pickle
import platform
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import wait as wait_for
from functools import cache, lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gridtune.model.metrics.custom import CustomMetric, exactly, in_process
from gridtune.scenarios.document.scenario import Scenario
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.workers.local_workers import WorkerDiedError, Workers
from gridtune.scenarios.workers.pool import Pool

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as DaskFuture

R = TypeVar("R")

TIMEOUT = 5.0  # s to reach the scheduler, and to wait for a first worker
NOTICE = 10.0  # s without any worker, after which that is said
LIMIT = 600.0  # s without any worker, after which nobody waits any more
FLOORS = ("model", "agents", "scenarios")  # of the sources, what a simulation runs on
PACKAGES = ("mesa", "numpy")  # whose version a result may depend on

log = logging.getLogger("gridtune")  # the command line prints it on standard error
_one_at_a_time = threading.Lock()  # a simulation has its process to itself, however many threads a worker has


class DaskWorkers(Workers):
    """The workers of a cluster, as an executor.

    Dask runs a task again whose worker has died, on another worker, as often as the scheduler's
    `allowed-failures` says; so does a `Pool` after that. A worker, whether there from the start or
    not, takes tasks only if it has the same sources, versions and traces as this process.

    Args:
        address: of the scheduler, e.g. `tcp://127.0.0.1:8786`.
        scenarios: what will be run.

    Raises:
        ScenarioError: Dask is not installed, the cluster cannot be reached or has no workers, or a worker
            would not give the same results.
    """

    def __init__(self, address: str, scenarios: Sequence[Scenario]) -> None:
        self._address = address
        self._scenarios = pickle.dumps([each.parts for each in scenarios])
        self._here = about(self._scenarios)
        self._under_way: set[Future[Any]] = set()
        self._alone: float | None = None  # since when there are no workers, s of a clock
        self._said = False
        self._client = self._connect()
        try:
            self._check()
        except BaseException:
            self._client.close()
            raise

    def count(self) -> int:
        """Workers that the cluster has now, at least 1."""
        return max(1, len(self._client.nthreads()))

    def check(self, finished: int) -> None:
        """Say after 10 s that there are no workers, and wait for one no longer than 600 s."""
        try:
            present = bool(self._client.nthreads())
        except OSError:  # the scheduler is gone: whoever waits for a result hears of it
            return
        now = time.monotonic()
        if present or self._alone is None:
            self._alone, self._said = None if present else now, False
            return
        if now - self._alone >= LIMIT:
            raise ScenarioError(
                f"{self._address}: no workers for {LIMIT:g} s; start some and repeat the command; "
                "a search has kept what is finished and goes on with --resume"
            )
        if now - self._alone >= NOTICE and not self._said:
            self._said = True
            log.info(
                "%s: no workers left; waiting up to %g s (Ctrl-C ends; a search keeps the %d finished runs)",
                self._address, LIMIT, finished,
            )  # fmt: skip

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        """Have a function called by a worker."""
        answer: Future[R] = Future()
        try:
            custom = in_process()
            call = packed(run_alike, self._here, self._scenarios, custom, partial(fn, *args, **kwargs))
        except Exception as error:  # cannot be sent
            answer.set_exception(error)
            return answer
        # Equal calls are not the same call: nothing is to be looked up, or shared with other searches.
        future = self._client.submit(pickle.loads, call, pure=False)
        self._under_way.add(answer)
        # Not by a callback of the future: it runs in a thread, which would wait for ever for a closed client.
        self._client.loop.add_callback(self._hand_over, answer, future)
        return answer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster; tasks that have not begun are not run any more."""
        if wait and not cancel_futures:
            wait_for(self._under_way)
        self._client.close()

    def _connect(self) -> Client:
        try:
            from distributed import Client
            from distributed.comm import resolve_address
        except ImportError:
            raise ScenarioError("--dask needs Dask; `pip install 'gridtune[dask]'` brings it") from None
        _quieten()
        try:
            resolve_address(self._address)  # a client that trips over its address does not do so quietly
            client = Client(self._address, timeout=TIMEOUT, set_as_default=False, name="gridtune")
        except (OSError, ValueError) as error:
            problem = "no Dask scheduler can be reached there"
            raise ScenarioError(f"{self._address}: {problem}: {' '.join(str(error).split())}") from error
        try:
            client.wait_for_workers(1, timeout=TIMEOUT)
        except TimeoutError:
            client.close()
            raise ScenarioError(f"{self._address}: this Dask cluster has no workers (yet)") from None
        return client

    def _check(self) -> None:
        found = self._client.run(pickle.loads, packed(about, self._scenarios), on_error="return")
        for worker, there in found.items():
            if isinstance(there, BaseException):
                raise self._unusable(worker, there)
            if there != self._here:
                raise self._unusable(worker, DifferentWorkerError(_difference(self._here, there)))

    async def _hand_over(self, answer: Future[R], future: DaskFuture) -> None:
        """Give an answer what its future will hold; in the client's loop."""
        from distributed import KilledWorker

        try:
            answer.set_result(await future)
        except KilledWorker as error:
            answer.set_exception(WorkerDiedError(error.allowed_failures + 1))
        except CancelledError:
            problem = f"{self._address}: the connection to the Dask cluster was lost"
            answer.set_exception(ScenarioError(f"{problem}; what was finished is kept"))
        except (DifferentWorkerError, ImportError) as error:
            answer.set_exception(self._unusable("a worker", error))
        except BaseException as error:
            answer.set_exception(error)
        finally:
            self._under_way.discard(answer)

    def _unusable(self, worker: str, error: BaseException) -> ScenarioError:
        if isinstance(error, DifferentWorkerError):
            problem = str(error)
        elif isinstance(error, ImportError | AttributeError):
            problem = f"cannot import gridtune: {error}; install the same version there"
        else:
            problem = f"cannot run the scenario: {error}"
        return ScenarioError(f"{self._address}: worker {worker} {problem}")


class DifferentWorkerError(Exception):
    """A worker would not give the same results; the message says in what it differs."""


def dask_pool(address: str, scenarios: Sequence[Scenario]) -> Pool:
    """A pool of the workers of a Dask cluster, connected; see `DaskWorkers`."""
    first = [DaskWorkers(address, scenarios)]
    return Pool(executor=lambda _: first.pop() if first else DaskWorkers(address, scenarios))


@lru_cache(maxsize=4)
def about(scenarios: bytes) -> dict[str, str]:
    """What the results of this process depend on.

    Args:
        scenarios: the parts of each, pickled.

    Raises:
        ScenarioError: a file that a scenario names cannot be used here.
    """
    from gridtune.scenarios.results.run import notes
    from gridtune.scenarios.simulation.simulate import build

    found = {
        "gridtune's sources": _sources(),
        "Python": ".".join(platform.python_version_tuple()[:2]),
        **{name: version(name) for name in PACKAGES},
    }
    for parts in pickle.loads(scenarios):
        scenario = Scenario(*parts)
        build(scenario).close()  # reads the traces
        facts = [(name, digest[:8]) for name, digest in scenario.plugins.items()]
        facts += [(name, origin) for name, _, origin in (note.partition(": ") for note in notes(scenario))]
        for name, fact in facts:
            found[name] = f"{found[name]}, {fact}" if name in found else fact
    return found


class Call:
    """A call that is made where it is unpickled."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._function, self._arguments = function, arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return self._function, self._arguments


def packed(function: Callable[..., Any], *arguments: Any) -> bytes:
    """A call as bytes, which `pickle.loads` makes on a worker.

    So it is the worker that imports gridtune, and says so if it cannot. Dask would have the scheduler
    import it, too.
    """
    import cloudpickle

    data: bytes = cloudpickle.dumps(Call(function, arguments))
    return data


def run_alike(
    expected: dict[str, str], scenarios: bytes, custom: Sequence[CustomMetric], call: Callable[[], R]
) -> R:
    """Call on a worker, if it is like the process that asks, with the metrics that were registered there."""
    with _one_at_a_time, exactly(custom):
        here = about(scenarios)
        if here != expected:
            raise DifferentWorkerError(_difference(expected, here))
        return call()


def _quieten() -> None:
    """Leave it to us to say what went wrong, in one line."""
    for name in [*logging.root.manager.loggerDict, "tornado", "asyncio"]:
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _difference(here: dict[str, str], there: dict[str, str]) -> str:
    parts = [
        f"{name} {there.get(name, 'none')}, not {here.get(name, 'none')}"
        for name in here | there
        if here.get(name) != there.get(name)
    ]
    return "has " + "; ".join(parts)


@cache
def _sources() -> str:
    """What a simulation runs on: equal versions may differ while they are worked on."""
    top = Path(__file__).parents[2]
    return _digest([path for floor in FLOORS for path in sorted((top / floor).rglob("*.py"))])


def _digest(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:8]
