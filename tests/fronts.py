"""Archives with known answers, for the tests of fronts, choices, plots and pages."""

from dataclasses import replace

import numpy as np

from gridtune.optimize.inference.gaussian_process import posterior_of
from gridtune.optimize.records.evaluations import Archive, Estimate, Evaluation, Failed, Objective

UNHAPPY = Objective("unhappy_users", "minimize", "users")
UNFAIR = Objective("unfairness", "minimize")
COMPLETED = Objective("completed", "maximize", "jobs")
THREE = (UNHAPPY, UNFAIR, COMPLETED)


def estimate(*values):
    error = float(np.std(values, ddof=1) / len(values) ** 0.5) if len(values) > 1 else None
    return Estimate(float(np.mean(values)), error, tuple(float(value) for value in values))


def evaluation(number, objectives, outcomes, *, validation=None, values=None):
    """One configuration; `outcomes` and `validation` have a value, or several, for each objective."""

    def estimates(given):
        given = [one if isinstance(one, tuple) else (one,) for one in given]
        return {o.name: estimate(*one) for o, one in zip(objectives, given, strict=True)}

    return Evaluation(
        number,
        {"client.n_submit": number} if values is None else values,
        estimates(outcomes),
        {"makespan": 100.0},
        estimates(validation) if validation is not None else None,
    )


def archive(objectives, *outcomes, validation=None, **facts):
    validation = validation or [None] * len(outcomes)
    configurations = [
        evaluation(k, objectives, one, validation=new)
        for k, (one, new) in enumerate(zip(outcomes, validation, strict=True))
    ]
    return Archive("study", "diet/day-regular", tuple(objectives), tuple(configurations), **facts)


def posterior(configurations, objectives, rivals=None, **facts):
    """The posterior of an archive of these configurations."""
    known = Archive("study", "diet/day-regular", tuple(objectives), tuple(configurations), **facts)
    numbers = [one.number for one in configurations]
    return posterior_of(known, configurations, numbers if rivals is None else rivals)


class Told:
    """What a posterior says, given by hand; see `Posterior`.

    Args:
        chances: of being non-dominated, by number.
        means: to be minimised, by number.
        gap: the difference of any two configurations in any objective.
        uncertain: half of the interval of the logarithm of a factor common to all means.
    """

    def __init__(self, chances, means, gap=None, uncertain=0.0):
        self.chances, self.gap, self.uncertain = chances, gap, uncertain
        self.numbers, self.means = list(means), np.array(list(means.values()), dtype=float)

    def __contains__(self, number):
        return number in self.chances

    def difference(self, to, start, objective, pairs, mean):
        return self.gap

    def factor_of(self, objective):
        return self.uncertain


def search(configurations=60, *, objectives=3, replications=4, validation=8, seed=0):
    """A noisy search over mixed, conditional parameters, its apparent front validated on validation seeds."""
    from gridtune.optimize.front.front import front

    draw = np.random.default_rng(seed)
    goals = THREE[:objectives]

    def observe(count, load, legacy, window):
        noise = draw.normal(size=(count, 3))
        unhappy = np.maximum(0, np.round((load - 1) * 3 * legacy + 0.6 * noise[:, 0]))
        unfair = np.abs((0.7 * load if legacy else 0.05 + 0.02 * window) + 0.05 * noise[:, 1])
        completed = np.round(
            1890 - 100 * abs(np.log(load)) - (48 - 4 * window) * (not legacy) + 5 * noise[:, 2]
        )
        return [tuple(column) for column in (unhappy, unfair, completed)][:objectives]

    facts, made = {}, []
    for k in range(configurations):
        legacy, n_submit, window = (
            bool(draw.random() < 0.5),
            int(10 ** draw.uniform(1, 3)),
            int(draw.integers(1, 9)),
        )
        values = (
            {"client.dispatch": "legacy", "client.n_submit": n_submit}
            if legacy
            else {
                "client.dispatch": "ethic",
                "client.dispatch.window": window,
            }
        )
        values |= {"client.spacing": float(draw.uniform(1e-4, 1e-2)), "sed.strict": bool(draw.random() < 0.5)}
        facts[k] = (n_submit / 190 if legacy else 1.0, legacy, window)
        made.append(evaluation(k, goals, observe(replications, *facts[k]), values=values))
    failed = tuple(
        Failed(number, {"client.dispatch": "legacy"}, "broke")
        for number in (configurations, configurations + 1)
    )
    found = Archive("regular", "diet/day-regular", goals, tuple(made), failed, 1, replications)
    if not validation:
        return found
    short = {member.number for member in front(found).members}
    tested = tuple(
        evaluation(
            e.number,
            goals,
            [e.objectives[o.name].values for o in goals],
            validation=observe(validation, *facts[e.number]) if e.number in short else None,
            values=e.values,
        )
        for e in made
    )
    return Archive("regular", "diet/day-regular", goals, tested, failed, 1, replications)


def with_baseline(found):
    """A search whose first configuration is the baseline."""
    return replace(found, baseline=0, present=found.evaluations[0].values)


def advised(found, most=2):
    """A front with recommendations made by hand: the best of each objective, with its first changes."""
    from gridtune.optimize.front.changes import gains
    from gridtune.optimize.records.recommendation import Harm, Recommendation
    from gridtune.optimize.report.recommended import changed_values

    made, seen = [], {found.archive.baseline}
    for objective in found.objectives:
        sign = 1 if objective.direction == "minimize" else -1
        left = [one for one in found.on_front if one.number not in seen]
        best = min(left, key=lambda one: sign * found.value(one.number, objective))
        seen.add(best.number)
        known = {one.metric.name: one for one in gains(found, best)}
        changed = [
            replace(one, alone={objective.name: sign * -0.5}, share=0.6 if at == 0 else 0.1)
            for at, one in enumerate(changed_values(found, best.values))
        ]
        made.append(
            Recommendation(
                "ABCDEF"[len(made)],
                f"{'lowest' if sign > 0 else 'highest'} {objective.name}",
                best.number,
                best.number,
                best.values,
                tuple(changed[:most]),
                tuple(one.path for one in changed[most:]),
                known,
                20,
                (Harm("waiting_mean.optional", "s", 50.0, 190.0),) if not made else (),
            )
        )
    object.__setattr__(found.archive, "recommendations", tuple(made))
    return found
