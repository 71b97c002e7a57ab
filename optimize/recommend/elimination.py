"""Elimination: as few changes of a configuration as keep its gains and make nothing worse.

A surrogate model of all runs orders the changes by what they are expected to gain, and says how many should
suffice. Paired runs decide how few keep `KEEP` of each significant gain.

Source: C. Fawcett and H. Hoos, Analysing Differences between Algorithm Configurations through Ablation,
Journal of Heuristics 22(4), 2016.
"""

from __future__ import annotations

from dataclasses import replace

from gridtune.optimize.front.front import Front
from gridtune.optimize.recommend.candidates import Candidate
from gridtune.optimize.recommend.harm import worse_off
from gridtune.optimize.recommend.plan import Plan
from gridtune.optimize.recommend.subsets import Subsets
from gridtune.optimize.records.difference import Change
from gridtune.optimize.records.recommendation import ParameterChange, Recommendation, Refusal
from gridtune.optimize.runs.blocks import Block, Sample

KEEP = 0.9  # of each significant gain of the whole configuration


class Elimination:
    """Leaves out changes of configurations; `refusals` takes what a configuration breaks, by its number."""

    def __init__(self, front: Front, subsets: Subsets, refusals: dict[int, Refusal]) -> None:
        self._objectives, self._certain = front.objectives, front.certain
        self._subsets, self._refusals = subsets, refusals

    def thinned(self, candidate: Candidate, block: Block, chosen: Plan) -> Candidate | None:
        """The configuration with the fewest changes that keep its gains in these runs, if there are any.

        None if it breaks a constraint in these runs.
        """
        values, changed = candidate.origin.values, candidate.changed
        size = self._subsets.enough(changed, values, KEEP)
        if not chosen.elimination:
            return self.reduced(candidate, changed[:size]) if size < len(changed) else candidate
        start, whole = block.run([{}, values])
        if start is None or whole is None:
            return candidate
        if why := whole.breaks(start):
            number = candidate.origin.number
            self._refusals[number] = replace(self._refusals.get(number, Refusal()), metrics=why)
            return None

        def enough(paths: list[str]) -> Candidate | None:
            made = self.reduced(candidate, paths)
            sample = block.run([made.sparse])[0]
            return None if sample is None or self.kept(sample, whole, start) < KEEP else made

        best, low, high = candidate, 0, len(changed)  # so many keep too little, so many keep enough
        tries = chosen.tries
        while tries and low < size < high:
            tries -= 1
            if made := enough(changed[:size]):
                best, high = made, size
                size = size - 1 if size - low <= 2 else (low + size) // 2
            else:
                low, size = size, size + 1 if high - size <= 2 else (size + high + 1) // 2
        # The last one is needed. Of the others the model expects the less the later they come.
        for path in best.changed[-2::-1][:tries]:
            best = enough([one for one in best.changed if one != path]) or best
        return best

    def reduced(self, candidate: Candidate, paths: list[str]) -> Candidate:
        """The configuration with some of its changes, in round numbers."""
        sparse = self._subsets.rounded(self._subsets.combined(candidate.origin.values, paths))
        return replace(candidate, sparse=sparse, changed=[path for path in paths if path in sparse])

    def kept(self, sample: Sample, whole: Sample, start: Sample) -> float:
        """The share of each significant gain, or of each gain if none is, that a sparse configuration keeps.

        The least of them; 0 if it breaks a constraint, or makes an objective worse, or who is watched (see
        `worse_off`).
        """
        if sample.breaks(start):
            return 0.0
        gained, sure = list[float](), list[float]()
        for objective in self._objectives:
            full, part = whole.change(objective, start), sample.change(objective, start)
            if full.better and full.difference.mean:
                share = part.difference.mean / full.difference.mean
                gained.append(share)
                if self.sure(full, better=True):
                    sure.append(share)
            if self.sure(part, better=False) and self.sure(sample.change(objective, whole), better=False):
                return 0.0
        names = {one.name for one in self._objectives}
        lost = worse_off(start.metrics, whole.metrics, sample.metrics, names)
        return 0.0 if lost else min(sure or gained, default=0.0)

    def with_shares(self, made: Recommendation, block: Block, left: int) -> Recommendation:
        """The recommendation with what each change alone does to the baseline, if so many runs suffice."""
        groups = self._subsets.together(made.values)
        singles = {path: self._subsets.combined(made.values, group) for path, group in groups.items()}
        configurations = [{}, made.values, *singles.values()]
        if len(groups) < 2 or not block.replications or block.cost(configurations) > left:
            return made
        start, whole, *others = block.run(configurations)
        if start is None or whole is None:
            return made
        samples = dict(zip(singles, others, strict=True))
        changes = [
            self._told(one, sample, start, whole) if (sample := samples.get(one.path)) else one
            for one in made.changes
        ]
        shares = {one.path: one.share or 0.0 for one in changes}
        share = {path: shares.get(first, 0.0) for first, group in groups.items() for path in group}
        return replace(made, changes=tuple(sorted(changes, key=lambda one: -share.get(one.path, 0.0))))

    def _told(self, one: ParameterChange, sample: Sample, start: Sample, whole: Sample) -> ParameterChange:
        """A change with its effect alone, and its share of the gains of the whole."""
        alone, parts = dict[str, float](), list[float]()
        for objective in self._objectives:
            gap, full = sample.change(objective, start), whole.change(objective, start)
            mean = alone[objective.name] = gap.difference.mean if self._seen(gap) else 0.0
            if self.sure(full, better=True):
                parts.append(min(max(mean / full.difference.mean, 0.0), 1.0))
        return replace(one, alone=alone, share=sum(parts) / len(parts) if parts else None)

    def sure(self, one: Change, *, better: bool) -> bool:
        """Whether an objective gets better, or worse, significantly (95 %)."""
        return self._seen(one) and one.better is better

    def _seen(self, one: Change) -> bool:
        """Whether an objective changes beyond noise; where there is none, at all."""
        return bool(one.difference.mean) if self._certain else one.beyond_noise
