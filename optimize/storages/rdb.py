"""Studies in a database: how it is reached, and how trials get there in few round trips."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from gridtune.optimize.storages.recognition import LOCK_TIMEOUT, OPTUNA, database_kind
from gridtune.optimize.storages.sqlite_file import make, open_read_only
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.whole_files import remove_leftovers

if TYPE_CHECKING:
    from optuna import Study
    from optuna.storages import RDBStorage
    from optuna.study import StudyDirection
    from optuna.trial import FrozenTrial
    from sqlalchemy import URL

CONNECT_TIMEOUT = 10  # s
ATTEMPTS = 10  # to open a database whose tables another process is making
PAUSE = 0.2  # s between attempts
LETTING_GO = 5  # s that a PostgreSQL server may take to see that a search has died
HALF_MADE = ("already exists", "duplicate key", "UNIQUE constraint")  # signs of a race to make tables
CHEAP = 64 << 20  # bytes of an SQLite file up to which its indices are checked, too
POSTGRESQL = ("psycopg", "psycopg2")  # drivers, the preferred one first


def connect(address: str) -> RDBStorage:
    """The database at a URL for writing, with Optuna's tables in it.

    `postgresql://` means the driver that is installed. A new SQLite file gets its name when it is
    complete, so that of two who make it at a time both find all tables.

    Raises:
        ScenarioError: it is no URL or keeps nothing, its driver is missing, it cannot be reached, or it was
            made by something else, and is left as it is.
    """
    url = _with_driver(address)
    file = file_of(address)
    made = False
    try:
        if file is not None:
            _check_writable(address, url)
            kind = database_kind(file)
            if kind == "optuna":
                raise ScenarioError(
                    f"{file}: an Optuna database that `gridtune search` has not made; name a new file"
                )
            remove_leftovers(file.parent, {file.name})
            if kind == "new":
                make(file)
                made = True
        elif strange := _strange_tables(url):
            raise ScenarioError(
                f"{shown(address)}: a database of something else (it has the table {strange}); "
                "make one for searches, as `createdb studies` does"
            )
        return _patiently(lambda: _opened(url))
    except ScenarioError:
        raise
    except Exception as error:  # each database driver has its own
        if made and file is not None:  # nobody could write a study to it
            file.unlink(missing_ok=True)
        raise _unreachable(address, error) from error


def _check_writable(address: str, url: URL) -> None:
    """Refuse a URL of SQLite under which another file would be written than it names, or none."""
    if (url.database or "").startswith("file:") and url.query.get("uri") != "true":
        raise ScenarioError(f"{shown(address)}: file: is a URI only with ?uri=true; give sqlite:///PATH")
    if url.query.get("mode", "rwc") not in ("rw", "rwc") or "immutable" in url.query:
        raise ScenarioError(f"{shown(address)}: cannot be written; give sqlite:///PATH")


def connect_for_reading(address: str) -> RDBStorage:
    """The database at a URL, of which nothing is changed.

    What a killed writer has left half done is undone in a copy.

    Raises:
        ScenarioError: it is no URL, its driver is missing, or it cannot be reached or holds no studies.
    """
    url = _with_driver(address)
    file = file_of(address)
    try:
        if file is None:
            if missing := OPTUNA - _tables(url):
                raise ScenarioError(f"{shown(address)}: holds no studies: it has no table {min(missing)}")
            return _opened(url, changing=False)
        if database_kind(file) == "new":
            raise ScenarioError(f"{file}: no such database")
        return open_read_only(file)
    except ScenarioError:
        raise
    except Exception as error:
        raise _unreachable(address, error) from error


def holds_studies(address: str) -> bool:
    """Whether the database on a server has all tables; whoever was stopped while making them has left fewer.

    Raises:
        ScenarioError: it cannot be reached.
    """
    try:
        return _tables(_with_driver(address)) >= OPTUNA
    except ScenarioError:
        raise
    except Exception as error:  # each database driver has its own
        raise _unreachable(address, error) from error


def check_whole(storage: RDBStorage) -> list[str]:
    """What SQLite finds wrong with its file; nothing is known of other databases."""
    if storage.engine.dialect.name != "sqlite":
        return []
    from sqlalchemy import text

    with storage.engine.connect() as connection:
        pages = connection.scalar(text("PRAGMA page_count")) * connection.scalar(text("PRAGMA page_size"))
        check = "integrity_check" if pages <= CHEAP else "quick_check"
        found = list(connection.scalars(text(f"PRAGMA {check}")))
    return [] if found == ["ok"] else [line for text in found for line in text.splitlines() if line]


def _opened(url: URL, *, changing: bool = True) -> RDBStorage:
    from optuna.storages import RDBStorage

    arguments: dict[str, Any] = {}
    if url.get_backend_name() == "sqlite":
        arguments["timeout"] = LOCK_TIMEOUT
    elif url.drivername.partition("+")[2] in POSTGRESQL and "connect_timeout" not in url.query:
        arguments["connect_timeout"] = CONNECT_TIMEOUT
    # Between two batches a server may have closed the connection, hence the ping.
    engine: dict[str, Any] = {"connect_args": arguments, "pool_pre_ping": True}
    if not changing and url.get_backend_name() == "postgresql":
        engine["execution_options"] = {"postgresql_readonly": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return RDBStorage(
            url.render_as_string(hide_password=False), engine_kwargs=engine, skip_table_creation=not changing
        )


def _patiently(attempt: Callable[[], RDBStorage]) -> RDBStorage:
    """Whoever opens a new database makes its tables: of two at a time one finds them half made."""
    for _ in range(ATTEMPTS - 1):
        try:
            return attempt()
        except Exception as error:
            if not any(sign in str(error) for sign in HALF_MADE):
                raise
            time.sleep(PAUSE)
    return attempt()


def _strange_tables(url: URL) -> str:
    """A table of a database on a server that has tables, but none of Optuna's; else empty."""
    tables = _tables(url)
    return "" if tables & OPTUNA else min(tables, default="")


def _tables(url: URL) -> set[str]:
    from sqlalchemy import create_engine, inspect

    arguments = {"connect_timeout": CONNECT_TIMEOUT} if "connect_timeout" not in url.query else {}
    known = url.drivername.partition("+")[2] in POSTGRESQL
    engine = create_engine(url, connect_args=arguments if known else {})
    try:
        return set(inspect(engine).get_table_names())
    finally:
        engine.dispose()


def _unreachable(address: str, error: Exception) -> ScenarioError:
    if isinstance(error, ImportError):
        return ScenarioError(f"{shown(address)}: cannot be used: {reason(error)}; install its driver")
    return ScenarioError(f"{shown(address)}: cannot be reached: {reason(error)}")


def add_study(
    storage: RDBStorage,
    name: str,
    directions: Sequence[StudyDirection],
    metric_names: Sequence[str],
    attributes: Mapping[str, Any],
) -> None:
    """Make a study with all that is said of it, or none of it.

    Optuna's own way takes a transaction for each attribute.

    Args:
        storage: that has no study of that name.
        name: of the study.
        directions, metric_names: of its objectives.
        attributes: of its user.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: the database does not take it.
    """
    from optuna.storages._rdb import models
    from optuna.study.study import _SYSTEM_ATTR_METRIC_NAMES

    made = models.StudyModel(study_name=name)
    made.directions = [
        models.StudyDirectionModel(objective=objective, direction=direction)
        for objective, direction in enumerate(directions)
    ]
    made.system_attributes = [
        models.StudySystemAttributeModel(
            key=_SYSTEM_ATTR_METRIC_NAMES, value_json=json.dumps(list(metric_names))
        )
    ]
    made.user_attributes = [
        models.StudyUserAttributeModel(key=key, value_json=json.dumps(value))
        for key, value in attributes.items()
    ]
    with storage.scoped_session.session_factory() as session, session.begin():
        session.add(made)


def add_trials(storage: RDBStorage, study: Study, trials: Sequence[FrozenTrial]) -> None:
    """Add finished trials to a study, all of them or none.

    This takes a handful of statements for the whole batch. Optuna's own way takes several for each parameter.

    Args:
        storage: that the study is in.
        study: it may have other writers.
        trials: with their parameters' distributions; equal names must have equal distributions.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: the database does not take them.
    """
    from optuna.storages._rdb import models
    from sqlalchemy import func, insert, select, update

    number = storage.get_study_id_from_name(study.study_name)
    this = models.StudyModel.study_id == number
    with storage.scoped_session.session_factory() as session, session.begin():
        # Changes nothing, but keeps other writers of the study out while trials are numbered.
        session.execute(update(models.StudyModel).where(this).values(study_name=models.StudyModel.study_name))
        count = select(func.count()).select_from(models.TrialModel)
        first = session.scalar(count.where(models.TrialModel.study_id == number)) or 0
        session.bulk_save_objects(
            models.TrialModel(
                study_id=number,
                number=at,
                state=trial.state,
                datetime_start=trial.datetime_start,
                datetime_complete=trial.datetime_complete,
            )
            for at, trial in enumerate(trials, start=first)
        )
        new = select(models.TrialModel.trial_id).where(
            models.TrialModel.study_id == number, models.TrialModel.number >= first
        )
        ids = session.scalars(new.order_by(models.TrialModel.number))
        known = list(zip(ids, trials, strict=True))
        for table, details in (
            (models.TrialValueModel, _values(known)),
            (models.TrialParamModel, _parameters(known)),
            (models.TrialUserAttributeModel, _attributes(known)),
        ):
            found = list(details)
            if found:
                session.execute(insert(table.__table__), found)


@contextmanager
def hold(storage: RDBStorage, name: str, held: str) -> Iterator[None]:
    """Be the only search that writes a study on PostgreSQL, whose server lets go of what the dead held.

    The server may see a little later than we do that a search has died, so it gets some time.

    Args:
        storage: that the study is in.
        name: of the study.
        held: what to say if another search holds it.

    Raises:
        ScenarioError: another one does.
    """
    from optuna.storages._rdb import models
    from sqlalchemy import func, select

    if storage.engine.dialect.name != "postgresql":
        yield
        return
    study = select(models.StudyModel.study_id).where(models.StudyModel.study_name == name)
    connection = storage.engine.connect()
    connection.detach()  # not to be lent to others: what is held goes with the connection
    try:
        end = time.monotonic() + LETTING_GO
        while not connection.scalar(select(func.pg_try_advisory_lock(digest(name)))):
            if time.monotonic() > end:
                raise ScenarioError(held)
            time.sleep(PAUSE)
        connection.execute(study.with_for_update())  # the last batch of a dead search may be on its way
        connection.commit()
        yield
    finally:
        connection.close()


def digest(name: str) -> int:
    """A name as a number of 63 bits, the same everywhere."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) >> 1


def shown(address: str) -> str:
    """The URL of a database without its password."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        scheme, _, rest = address.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2]}"
    query = {name: value for name, value in url.query.items() if name != "password"}
    return url.set(query=query).render_as_string(hide_password=True)


def reason(error: BaseException) -> str:
    """What a database or file system has to say, in one line: its own words, without the statement."""
    inner: BaseException | None = error
    while inner is not None:
        original = getattr(inner, "orig", None)
        if original is not None:
            error = original
            break
        inner = inner.__cause__
    # What a file system says names the file that was to be made, not the storage that was asked for.
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line), type(error).__name__)


def _with_driver(address: str) -> URL:
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(address)
    except (ArgumentError, ValueError) as error:
        raise ScenarioError(f"{shown(address)}: not the URL of a database: {reason(error)}") from error
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise ScenarioError(
            f"{shown(address)}: names no file to keep studies in, as sqlite:///studies.db does"
        )
    if url.drivername not in ("postgresql", "postgres"):
        return url
    for driver in POSTGRESQL:
        if find_spec(driver) is not None:
            return url.set(drivername=f"postgresql+{driver}")
    raise ScenarioError(
        f"{shown(address)}: no driver of PostgreSQL; `pip install 'gridtune[postgresql]'` brings one"
    )


def file_of(address: str) -> Path | None:
    """The file that an SQLite URL names; None for other databases."""
    url = _with_driver(address)
    if url.get_backend_name() != "sqlite" or not url.database:
        return None
    name = url.database
    return Path(unquote(name.removeprefix("file:").partition("?")[0]) if name.startswith("file:") else name)


def _values(known: Sequence[tuple[int, FrozenTrial]]) -> Iterator[dict[str, Any]]:
    from optuna.storages._rdb.models import TrialValueModel

    for trial_id, trial in known:
        for objective, value in enumerate(trial.values or ()):
            stored, kind = TrialValueModel.value_to_stored_repr(value)
            yield {"trial_id": trial_id, "objective": objective, "value": stored, "value_type": kind}


def _parameters(known: Sequence[tuple[int, FrozenTrial]]) -> Iterator[dict[str, Any]]:
    from optuna.distributions import distribution_to_json

    written: dict[str, str] = {}
    for trial_id, trial in known:
        for name, value in trial.params.items():
            distribution = trial.distributions[name]
            if name not in written:
                written[name] = distribution_to_json(distribution)
            yield {
                "trial_id": trial_id,
                "param_name": name,
                "param_value": distribution.to_internal_repr(value),
                "distribution_json": written[name],
            }


def _attributes(known: Sequence[tuple[int, FrozenTrial]]) -> Iterator[dict[str, Any]]:
    for trial_id, trial in known:
        for key, value in trial.user_attrs.items():
            yield {"trial_id": trial_id, "key": key, "value_json": json.dumps(value)}
