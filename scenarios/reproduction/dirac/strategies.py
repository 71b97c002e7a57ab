"""RR-5576, figure 9: push, pull and pilots side by side, and what they ask of the match-maker."""

from __future__ import annotations

from statistics import fmean

from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.reproduction.claims import (
    Claim,
    contradiction,
    definition,
    hypothesis,
)
from gridtune.scenarios.reproduction.dirac.figures import (
    draw_strategies,
)
from gridtune.scenarios.reproduction.dirac.runs import (
    DEDICATED,
    PUSH,
    SAMPLED,
    SHARED,
    STRATEGIES,
    run_strategy,
    settled,
)
from gridtune.scenarios.reproduction.statistics import (
    Estimate,
    Finding,
    difference,
    mean,
    ratio,
)
from gridtune.scenarios.reproduction.workbench import Values, Workbench

STATIC, DYNAMIC, ABORTED, TASKS = 872, 699, 299, 500  # queries, queries, pilots and tasks of section 8

Made = dict[str, dict[str, Values]]  # metrics by context and strategy


def strategies(bench: Workbench) -> list[Claim]:
    """Figure 9: push without delay, pull, and both modes of pilots."""
    made: Made = {}
    for name in (DEDICATED, SHARED):
        values = bench.measure(load(name), [chosen | SAMPLED for chosen in STRATEGIES.values()], settled)
        made[name] = dict(zip(STRATEGIES, values, strict=True))
    draw_strategies(
        bench.figure("figure-9"),
        made,
        {
            context: {name: run_strategy(context, name, bench.seed) for name in STRATEGIES if name != PUSH}
            for context in made
        },
    )
    return [*_times(made), *_queries(made)]


def _least(made: Made, context: str, metric: str, name: str, others: list[str]) -> list[Finding]:
    """Whether a strategy has the least of a metric, one finding for each other strategy."""
    mine = made[context][name][metric]
    return [
        Finding(
            f"{name} minus {other} ({short(context)})",
            difference(mine, made[context][other][metric]),
            high=0,
            strict=True,
        )
        for other in others
    ]


def _gain(made: Made, context: str, better: str, worse: str) -> Estimate:
    """The share of the response time that a strategy saves against another."""
    found = ratio(made[context][better]["meta_response_mean"], made[context][worse]["meta_response_mean"])
    return Estimate("1 - ratio", 1 - found.value, 1 - found.high, 1 - found.low, found.runs)


def _times(made: Made) -> list[Claim]:
    """P5 to P7: what the strategies do to tasks."""
    push, pull, once, filling = STRATEGIES
    name, source = "strategies", "figure 9a, section 8"
    executions = [values["meta_execution_mean"] for values in made[SHARED].values()]
    makespans = _least(made, SHARED, "meta_makespan", push, [pull, once, filling])
    saved = [
        Finding(f"saved on {short(context)} sites", _gain(made, context, once, pull), 0.05, 0.15)
        for context in (DEDICATED, SHARED)
    ]
    percent = [f"{100 * one.estimate.value:.1f}" for one in saved]
    return [
        hypothesis(
            "P5a",
            name,
            "on shared sites, the mean response time is shortest with filling pilots",
            source,
            *_least(made, SHARED, "meta_response_mean", filling, [push, pull, once]),
        ),
        definition(
            "P5b",
            name,
            "execution times are of the same order with each of the four ways",
            source,
            *(
                Finding("mean execution time, over that of push", ratio(values, executions[0]), 0.95, 1.05)
                for values in executions[1:]
            ),
            reason="all nodes have the same speed, and all four ways run the same tasks",
        ),
        hypothesis(
            "P5c",
            name,
            "on shared sites, the last task ends earliest under push (update period 0)",
            source,
            *makespans,
            reason=f"it ends {makespans[-1].estimate.value:.0f} s later (of about 14,000 s in all) than "
            "with filling pilots, which keep their nodes while local jobs queue",
        ),
        hypothesis(
            "P6a",
            name,
            "on dedicated sites, tasks wait longer in a site's queue under pull than with the other ways",
            source,
            *(
                Finding(
                    f"{other} minus {pull} (dedicated)",
                    difference(
                        made[DEDICATED][other]["local_wait_mean"], made[DEDICATED][pull]["local_wait_mean"]
                    ),
                    high=0,
                    strict=True,
                )
                for other in (push, once, filling)
            ),
        ),
        hypothesis(
            "P6b",
            name,
            "on dedicated sites, tasks wait less at the match-maker under pull than with pilots",
            source,
            *_least(made, DEDICATED, "global_wait_mean", pull, [once, filling]),
        ),
        definition(
            "P6c",
            name,
            "tasks that pilots run do not wait at the site",
            "section 8",
            *(
                Finding(f"{pilot}, s", mean(made[DEDICATED][pilot]["local_wait_mean"]), high=0)
                for pilot in (once, filling)
            ),
            reason="a pilot asks for a task only once it holds a node",
        ),
        hypothesis(
            "P7a",
            name,
            "on shared sites, the mean response time is nearly 50 % shorter with filling pilots than under "
            "push",
            "section 8",
            Finding("saved on shared sites", _gain(made, SHARED, filling, push), 0.35, 0.55),
        ),
        hypothesis(
            "P7b",
            name,
            "the mean response time is 10 % shorter with run-once pilots than under pull",
            "section 8",
            *saved,
            reason=f"it is only {percent[0]} % shorter on dedicated sites, where waits are short, and "
            f"{percent[1]} % on shared sites, where tasks wait for local jobs either way",
        ),
    ]


def _queries(made: Made) -> list[Claim]:
    """P8: what the strategies ask of the match-maker."""
    _, pull, once, filling = STRATEGIES
    name, source = "strategies", "section 8, figure 9b"
    static, dynamic = made[DEDICATED][pull], made[DEDICATED][once]
    uneven = [
        Finding(
            f"unevenness, {pilot} minus pull ({short(context)})",
            difference(made[context][pilot]["unevenness"], made[context][pull]["unevenness"]),
            high=0,
            strict=True,
        )
        for context in made
        for pilot in (once, filling)
    ]
    total = [a + b for a, b in zip(dynamic["site_probes"], dynamic["pilot_requests"], strict=True)]
    return [
        definition(
            "P8a",
            name,
            f"under pull, site agents ask the match-maker about {STATIC} times",
            source,
            Finding("queries", mean(static["site_probes"]), 820, 930),
            reason="the poll period of 90 s was chosen to give this number",
        ),
        hypothesis(
            "P8b",
            name,
            f"with run-once pilots, the match-maker is asked about {DYNAMIC} times",
            source,
            Finding("requests of pilots and probes of their site agents", mean(total), 560, 840),
            reason=f"the tolerance is 20 %. Pilots ask {fmean(dynamic['pilot_requests']):.0f} times, "
            "site agents the rest",
        ),
        hypothesis(
            "P8c",
            name,
            "queries of the match-maker are spread more evenly over time with pilots than under pull",
            source,
            *uneven,
            reason=f"in {sum(one.estimate.value > 0 for one in uneven)} of {len(uneven)} cases (two kinds of "
            "pilots, two kinds of sites), the numbers of queries per 500 s vary more with pilots "
            f"(coefficient of variation: up to {max(one.estimate.value for one in uneven):.2f} larger)",
        ),
        contradiction(
            "P8d",
            name,
            "pilots load the match-maker more than pull",
            "section 9",
            Finding(
                "queries with run-once pilots, over those under pull",
                ratio(total, static["site_probes"]),
                low=1,
                strict=True,
            ),
            clash=DYNAMIC < STATIC,
            arithmetic=f"the paper's section 8 counts {DYNAMIC} queries with pilots and {STATIC} under pull",
        ),
        contradiction(
            "P8e",
            name,
            f"{ABORTED} run-once pilots end without a task",
            "section 9",
            Finding("pilots", mean(dynamic["aborted_pilots"]), 0.9 * ABORTED, 1.1 * ABORTED),
            clash=DYNAMIC - TASKS != ABORTED,
            arithmetic=f"the paper's section 8 counts {DYNAMIC} queries; {TASKS} brought a task, so at most "
            f"{DYNAMIC - TASKS} brought none",
        ),
    ]


def short(context: str) -> str:
    """The kind of sites that a scenario has, in a word."""
    return context.removeprefix("dirac/")
