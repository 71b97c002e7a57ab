"""All that is said of one small front, as it was when it was last read through, line by line.

python -m tests.test_front_whole     # writes it anew, to be read through again
"""

import json
from dataclasses import replace
from pathlib import Path

from gridtune.optimize.front.export import summary, to_csv, to_dict, to_latex, to_text
from gridtune.optimize.front.front import front
from gridtune.optimize.front.tables import advice_frame, evaluations_frame, front_frame
from gridtune.optimize.front.terminal import table
from gridtune.optimize.records.evaluations import Archive, Constraint, Failed
from tests.fronts import COMPLETED, UNFAIR, estimate, evaluation

KEPT = Path(__file__).with_name("front_whole.txt")
LOST = Constraint("lost", "<=", 3.0, "jobs")


def point(number, values, unfair, completed, lost, fresh=None):
    """A point in two scenarios: in the busy one twice as unfair, one job less done and one more lost."""
    one = evaluation(
        number, (UNFAIR, COMPLETED), (unfair, completed), fresh=fresh and fresh[:2], values=values
    )

    def cases(unfair, completed, lost):
        return {
            name: {
                "unfairness": estimate(*(x * (1 + more) for x in unfair)),
                "completed": estimate(*(x - more for x in completed)),
                "lost": estimate(*(x + more for x in lost)),
            }
            for more, name in enumerate(("calm", "busy"))
        }

    return replace(one, cases=cases(unfair, completed, lost), validated_cases=fresh and cases(*fresh))


def study():
    """Today's setting and six points: two stay, one breaks a bound on fresh seeds, one as searched."""
    points = (
        point(0, {}, (0.5, 0.7), (8.0, 8.0), (1.0, 1.0), ((0.6, 0.8, 0.7), (8.0, 7.0, 8.0), (1.0, 1.0, 1.0))),
        point(1, {"a.kind": "x", "a.n": 3, "a.w": 0.5}, (0.2, 0.3), (10.0, 11.0), (1.0, 1.5),
              ((0.25, 0.3, 0.2), (10.0, 9.0, 10.5), (1.0, 2.0, 1.0))),
        point(2, {"a.kind": "y", "a.n": 4}, (0.1, 0.1), (7.0, 6.0), (1.0, 0.0),
              ((0.15, 0.1, 0.05), (7.0, 6.0, 7.0), (1.0, 4.0, 5.0))),
        point(3, {"a.kind": "x", "a.n": 5, "a.w": 0.25}, (0.4, 0.5), (12.0, 14.0), (2.0, 1.0),
              ((0.45, 0.5, 0.4), (12.0, 11.0, 13.0), (1.0, 1.5, 1.0))),
        point(4, {"a.kind": "x", "a.n": 6, "a.w": 0.75}, (0.05, 0.05), (5.0, 6.0), (2.0, 4.0)),
        point(5, {"a.kind": "y", "a.n": 7}, (0.9, 0.9), (5.0, 6.0), (2.0, 1.0)),
        point(6, {"a.kind": "x", "a.n": 8, "a.w": 1.0}, (0.15, 0.15), (9.0, 9.0), (1.0, 1.0)),
    )  # fmt: skip
    failed = tuple(Failed(number, {"a.kind": "z"}, "no such kind") for number in (7, 8, 9))
    return Archive(
        "small", "diet/day-regular", (UNFAIR, COMPLETED), points, failed, "tpe", 1, 2, 6, ("calm", "busy"),
        "mean", (LOST,), 4, 0, {"a.kind": "x", "a.n": 3, "a.w": 1.0, "b": 2},
    )  # fmt: skip


def rounded(value):
    """Data with numbers to nine digits."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def said():
    """Every form of the front, one below the other."""
    whole = front(study())
    alone = front(replace(study(), today=None, constraints=(), cases=(), max_replications=None))
    parts = {}
    for name, found in (("whole", whole), ("without today, bounds and scenarios", alone)):
        parts[f"{name}: sentences"] = "\n".join(summary(found))
        parts[f"{name}: terminal"] = table(found, 200)
        parts[f"{name}: narrow terminal"] = table(found, 60)
        parts[f"{name}: text"] = to_text(found)
        parts[f"{name}: LaTeX"] = to_latex(found)
        parts[f"{name}: CSV"] = front_frame(found).round(6).to_csv() + to_csv(found).partition("\n")[0]
        parts[f"{name}: recommendations"] = advice_frame(found).round(6).to_csv()
        parts[f"{name}: JSON"] = json.dumps(rounded(to_dict(found)), indent=1)
    parts["evaluations"] = evaluations_frame(whole).round(6).to_csv()
    return "".join(f"=== {name}\n{text.rstrip()}\n" for name, text in parts.items())


def test_a_small_front_is_told_as_it_was():
    assert said().splitlines() == KEPT.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    KEPT.write_text(said(), encoding="utf-8")
