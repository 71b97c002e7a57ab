"""What a study holds, looked at piece by piece before any of it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gridtune.optimize.records.evaluations import Evaluation, Failed, Value
from gridtune.optimize.study.extra_runs import FURTHER, joined, number_of, part_of
from gridtune.optimize.study.serialization import entry_of, estimates_of
from gridtune.optimize.study.stored import (
    CHECK,
    Closed,
    Part,
    StoredEstimate,
    StoredEvaluation,
    StoredFailure,
    StoredSettings,
    digest,
    fault,
    intact,
)

if TYPE_CHECKING:
    from optuna import Study

SETTINGS = "gridtune"
COPY = "gridtune:copy"  # of the settings, without which nothing else means anything
CLOSED = "closed"
VALIDATED = "validated"
IDENTITY = "identity"
SHOWN = 5  # numbers of missing evaluations in a message


@dataclass(frozen=True)
class KeptTrial:
    """What a storage has of a trial.

    Attributes:
        number: of the trial.
        values: what was set, by path.
        known: its user attributes.
        means: values of the objectives that Optuna shows; None for a failed trial, or if they are not known.
    """

    number: int
    values: dict[str, Value]
    known: dict[str, Any]
    means: list[float] | None = None

    @property
    def ours(self) -> bool:
        """Whether a search wrote it."""
        return not self.known.keys().isdisjoint((CHECK, "objectives", "failure"))


@dataclass
class Contents:
    """What is whole of a study.

    Attributes:
        settings: as stored.
        name: of the study.
        entries: by number; with the further replications of each.
        faults: what is not whole, in a few words each.
        parts: how many further parts there are.
        closed: whether the search let go of the study; then nothing is under way.
        explored: whether its exploration was over then; see `optimize.study.evaluation_store.Store`.
    """

    settings: dict[str, Any]
    name: str = ""
    entries: dict[int, Evaluation | Failed] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    parts: int = 0
    closed: bool = False
    explored: bool = False

    @property
    def identity(self) -> str:
        """Of the study, for its checksums; empty if it is from before there were any."""
        return str(self.settings.get(IDENTITY, ""))


def settings_fault(stored: object, name: str | None = None) -> str:
    """What is wrong with stored settings; empty if nothing is."""
    if not isinstance(stored, dict):
        return "its settings are none"
    found = fault(StoredSettings, stored)
    if found:
        return f"its settings are garbled: {found}"
    if not stored.keys().isdisjoint((IDENTITY, CHECK)):
        if not intact(str(stored.get(IDENTITY)), "settings", stored):
            return "its settings were changed"
        if name is not None and stored.get("study") != name:
            return f"its settings are those of the study {stored.get('study')}"
    return ""


def contents_of(
    settings: dict[str, Any], attributes: Mapping[str, Any], trials: Sequence[KeptTrial]
) -> Contents:
    """The whole pieces of a study, and what is wrong with the others.

    Args:
        settings: of the study, found in order.
        attributes: of the study.
        trials: of the study, also those of others.
    """
    made = Contents(settings, str(settings.get("study", "")))
    _take_entries(made, attributes, trials)
    _take_parts(made, attributes)
    closed = attributes.get(CLOSED)
    if made.identity and closed is not None:
        if fault(Closed, closed) or not intact(made.identity, CLOSED, closed):
            made.faults.append("the note of its end is garbled")
        else:
            made.closed, made.explored = True, closed.get("explored", False)
            for what, count, had in (
                ("evaluations", len(made.entries), closed["entries"]),
                ("further runs", made.parts, closed["parts"]),
            ):
                if count < had:
                    made.faults.append(f"{had - count} of {had} {what} are missing")
    return made


def trials_of(study: Study) -> list[KeptTrial]:
    """What Optuna has of a study's trials."""
    return [
        KeptTrial(trial.number, dict(trial.params), dict(trial.user_attrs), list(trial.values or ()) or None)
        for trial in study.get_trials(deepcopy=False)
    ]


def entry_check(identity: str, number: int, values: Mapping[str, Value], known: Mapping[str, Any]) -> str:
    """The checksum of an entry.

    Args:
        identity: of the study.
        number: of the entry.
        values: as they come back from a storage.
        known: user attributes without the checksum.
    """
    return digest(identity, "entry", [number, dict(values), dict(known)])


def _take_entries(made: Contents, attributes: Mapping[str, Any], trials: Sequence[KeptTrial]) -> None:
    others = 0
    validated = attributes.get(VALIDATED, {})
    for trial in trials:
        if not trial.ours:
            others += 1
            continue
        number = trial.number
        problem = "was changed" if made.identity and not whole(made.identity, trial) else ""
        if made.identity and not problem:
            number = trial.known[CHECK][0]
        problem = problem or _entry_fault(made, trial)
        if problem:
            made.faults.append(f"evaluation {number} {problem}")
            others += 1  # explains a gap
            continue
        if number in made.entries:
            made.faults.append(f"evaluation {number} is there twice")
            continue
        entry = entry_of(number, trial.values, trial.known)
        # Those studies had one case; what is validated there without its cases could not be shown.
        again = (
            None if "cases" in trial.known or not isinstance(validated, dict) else validated.get(str(number))
        )
        if again is not None and isinstance(entry, Evaluation):
            if not isinstance(again, dict) or any(fault(StoredEstimate, one) for one in again.values()):
                made.faults.append(f"what validated evaluation {number} is garbled")
            else:
                entry = replace(entry, validated=estimates_of(again))
        made.entries[number] = entry
    if made.identity:
        missing = sorted(set(range(max(made.entries, default=-1) + 1)) - made.entries.keys())
        if len(missing) > others:
            names = ", ".join(map(str, missing[:SHOWN])) + (", …" if len(missing) > SHOWN else "")
            plural = len(missing) > 1
            made.faults.append(
                f"evaluation{'s' if plural else ''} {names} {'are' if plural else 'is'} missing"
            )


def whole(identity: str, trial: KeptTrial) -> bool:
    """Whether a trial is as it was given its checksum."""
    check = trial.known.get(CHECK)
    if not isinstance(check, list) or len(check) != 2 or type(check[0]) is not int or check[0] < 0:
        return False
    known = {name: part for name, part in trial.known.items() if name != CHECK}
    return bool(entry_check(identity, check[0], trial.values, known) == check[1])


def _entry_fault(made: Contents, trial: KeptTrial) -> str:
    paths = {parameter["path"] for parameter in made.settings["space"]}
    if not trial.values.keys() <= paths:
        return f"sets {min(trial.values.keys() - paths)}, which the search does not vary"
    if "failure" in trial.known:
        found = fault(StoredFailure, trial.known)
        return f"is garbled: {found}" if found else ""
    found = fault(StoredEvaluation, trial.known) or _not_of(made.settings, trial.known)
    if found:
        return f"is garbled: {found}"
    objectives = trial.known["objectives"]
    means = [objectives[name]["mean"] for name, *_ in made.settings["objectives"]]
    if trial.means is not None and trial.means != means:
        return "has other values in its trial than in its objectives"
    return ""


def _not_of(settings: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """In what an evaluation does not fit the search."""
    names = {name for name, *_ in settings["objectives"]}
    if known["objectives"].keys() != names:
        return "its objectives are others"
    cases = known.get("cases", {})
    if cases.keys() - {case["name"] for case in settings.get("cases", ())} - {settings["scenario"]}:
        return "its cases are others"
    everything = [known["objectives"], *cases.values()]
    if len({len(estimate["values"]) for estimates in everything for estimate in estimates.values()}) > 1:
        return "its numbers of replications differ"
    return ""


def _take_parts(made: Contents, attributes: Mapping[str, Any]) -> None:
    names = sorted(name for name in attributes if name.startswith(FURTHER))
    if made.identity and names and number_of(names[-1]) != len(names) - 1:
        made.faults.append("further runs are missing")
    for name in names:
        parts = attributes[name]
        for part in parts if isinstance(parts, list) else [None]:
            problem = _part_fault(made, part)
            if problem or not isinstance(part, dict):
                made.faults.append(f"further runs {name.removeprefix(FURTHER)} {problem}")
                continue
            made.parts += 1
            entry = made.entries.get(part["number"])
            if isinstance(entry, Evaluation):
                made.entries[entry.number] = joined(entry, part_of(entry, part))


def _part_fault(made: Contents, part: Any) -> str:
    if made.identity and not intact(made.identity, "part", part):
        return "were changed"
    model = StoredFailure if isinstance(part, dict) and "failure" in part else StoredEvaluation
    found = fault(Part, part) or fault(model, part)
    if not found and model is StoredEvaluation:
        found = _not_of(made.settings, part)
    if found:
        return f"are garbled: {found}"
    entry = made.entries.get(part["number"])
    first = part.get("first")
    if first is None or not isinstance(entry, Evaluation):
        return ""
    had = entry.fresh_replications if part["fresh"] else entry.replications
    return "" if first == had else f"do not follow those before of evaluation {entry.number}"
