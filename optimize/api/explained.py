"""Why a configuration of a search: the explanation in words and as tables."""

from __future__ import annotations

from functools import cached_property
from html import escape
from math import nan
from typing import Any

import pandas as pd

from gridtune.optimize.explanation.explain import Explanation
from gridtune.optimize.explanation.report import told
from gridtune.optimize.front.changes import Change


class Explained:
    """An explanation says what a configuration changes and why; `print` shows its words.

    Attributes:
        details: the explanation as records, with all numbers behind it.

    Example:
        >>> import gridtune as gt
        >>> study = gt.search("diet/day-regular", budget=4, sampler="random", jobs=1)
        >>> why = study.explain("baseline", replications=2, jobs=1)
        >>> why
        Explained(configuration ... of 'diet/day-regular')
        >>> words = why.text.split()
        >>> words[0], "diet/day-regular" in words
        ('Configuration', True)
    """

    def __init__(self, details: Explanation) -> None:
        self.details = details

    @property
    def text(self) -> str:
        """Explain in words, as `gridtune explain` prints them.

        Example:
            >>> print(why.text)
            Configuration ...
        """
        return told(self.details)

    @cached_property
    def changes(self) -> pd.DataFrame:
        """Compare each objective of the configuration with that of the baseline, a row for each.

        The index is the name of the metric.

        `start` and `to` are estimated means, as on the front, or else means over common validation runs.
        `difference` is `to` minus `start`, `low` and `high` its 95 % interval, all in the `unit` of the
        metric. `better` says whether that is good, `significant` whether the interval leaves 0 out,
        `p_value` (two-sided) how likely chance alone would make so great a difference. Of one run, `low`,
        `high` and `p_value` are nan, and `significant` is None.

        Example:
            >>> why.changes.index.tolist()
            ['unhappy_users', 'unfairness', 'completed']
        """
        return _table(["metric"], [(c.metric.name, *_change(c)) for c in self.details.changes])

    @cached_property
    def ablations(self) -> pd.DataFrame:
        """Measure the effect of putting back each setting alone, a row for each setting and objective.

        The index is `path` and `metric`; the columns are those of `changes`. The frame is empty if no
        ablation was asked for.

        Example:
            >>> why.ablations.index.names == ["path", "metric"]
            True
        """
        removed = self.details.ablations or ()
        rows = [(one.path, c.metric.name, *_change(c)) for one in removed for c in one.changes]
        return _table(["path", "metric"], rows)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        row = self.details.row
        return f"Explained(configuration {row.number} of {row.front.archive.study!r})"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text)}</pre>"


def _table(index: list[str], rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    columns = ["start", "to", "difference", "low", "high", "better", "significant", "p_value", "unit"]
    return pd.DataFrame(rows, columns=[*index, *columns]).set_index(index)


def _change(one: Change) -> tuple[Any, ...]:
    gap = one.difference
    significant = None if gap.half is None else one.significant
    low, high, p_value = (nan if one is None else one for one in (gap.low, gap.high, gap.p_value))
    return one.start, one.to, gap.mean, low, high, one.better, significant, p_value, one.metric.unit
