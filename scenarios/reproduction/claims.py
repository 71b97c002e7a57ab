"""Claims of a paper: hypotheses about measured numbers, and what becomes of them when it is run again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from gridtune.scenarios.reproduction.statistics import Finding, overall
from gridtune.scenarios.reproduction.workbench import Workbench

Verdict = Literal["met", "not met", "undecided", "by definition", "contradicted by the source"]

VERDICTS: tuple[Verdict, ...] = ("met", "not met", "undecided", "by definition", "contradicted by the source")


@dataclass(frozen=True)
class Claim:
    """One checkable statement of a paper and its outcome.

    Attributes:
        id: short name, e.g. `D4a`; no two claims of one experiment share it.
        experiment: within the paper.
        claim: the statement, in our words.
        source: section, figure or table.
        expected: value or relation, with its tolerance.
        measured: what came out, with its interval.
        verdict: what the intervals say; `by definition` where the model or a calibration leaves no other
        outcome,
            `contradicted by the source` where the paper's own numbers clash with each other.
        reason: what a reader must know to judge it.
        findings: statistic, value, interval, bounds and replications of each part.
    """

    id: str
    experiment: str
    claim: str
    source: str
    expected: str
    measured: str
    verdict: Verdict
    reason: str = ""
    findings: list[dict[str, Any]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """As the command line prints it."""
        return asdict(self)


def hypothesis(
    id: str, experiment: str, claim: str, source: str, *findings: Finding, reason: str = ""
) -> Claim:
    """A claim that measurements decide: met if all findings are, not met if one is not."""
    return _claim(id, experiment, claim, source, findings, overall(findings), reason)


def definition(id: str, experiment: str, claim: str, source: str, *findings: Finding, reason: str) -> Claim:
    """A claim that the model or a calibration makes true: shown, but not counted as met.

    Where it does not come out after all, the model does not do what it says, and the claim is not met.
    """
    failed = overall(findings) == "not met"
    return _claim(id, experiment, claim, source, findings, "not met" if failed else "by definition", reason)


def unstated(id: str, experiment: str, claim: str, source: str, *findings: Finding, reason: str) -> Claim:
    """A claim that nothing can decide, as its outcome depends on what the source does not say."""
    return _claim(id, experiment, claim, source, findings, "undecided", reason)


def contradiction(
    id: str,
    experiment: str,
    claim: str,
    source: str,
    *findings: Finding,
    clash: bool,
    arithmetic: str,
) -> Claim:
    """A claim that clashes with other numbers of its own source.

    Args:
        id, experiment, claim, source: of the claim.
        findings: what was measured, which decides where the source does not clash with itself.
        clash: whether the source's numbers clash, computed from them.
        arithmetic: the computation, in words.
    """
    verdict: Verdict = "contradicted by the source" if clash else overall(findings)
    return _claim(id, experiment, claim, source, findings, verdict, arithmetic)


def _claim(
    id: str,
    experiment: str,
    claim: str,
    source: str,
    findings: Sequence[Finding],
    verdict: Verdict,
    reason: str,
) -> Claim:
    return Claim(
        id,
        experiment,
        claim,
        source,
        "; ".join(finding.expected for finding in findings),
        "; ".join(finding.measured for finding in findings),
        verdict,
        reason,
        [finding.to_dict() for finding in findings],
    )


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper.

    Attributes:
        name: as in `gridtune reproduce PAPER/NAME`.
        title: one line.
        run: does it, draws its figures, and returns its claims.
    """

    name: str
    title: str
    run: Callable[[Workbench], list[Claim]]


@dataclass(frozen=True)
class Paper:
    """A paper that can be reproduced.

    Attributes:
        name: as in `gridtune reproduce NAME`.
        title: of the paper.
        experiments: in the paper's order.
    """

    name: str
    title: str
    experiments: tuple[Experiment, ...]
