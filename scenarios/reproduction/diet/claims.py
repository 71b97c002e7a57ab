"""RR-7959: the experiments of DIET-ethic, their figures 4 to 9 and their claims."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from statistics import median

from gridtune.scenarios.document.scenario import load
from gridtune.scenarios.reproduction.claims import Claim, Experiment, Paper, Values, Workbench, verdict
from gridtune.scenarios.reproduction.diet.figures import draw_comparison, draw_overhead, group_load
from gridtune.scenarios.simulation.simulate import simulate

N_SUBMIT = (
    3,
    10,
    20,
    30,
    35,
    40,
    45,
    50,
    60,
    75,
    90,
    100,
    110,
    125,
    150,
    175,
    190,
    200,
    250,
    300,
    400,
    500,
    700,
    1000,
)


@dataclass(frozen=True)
class Comparison:
    """Medians over replications: the legacy system for every n_submit, and DIET-ethic.

    Attributes:
        legacy: metric values by n_submit.
        ethic: metric values.
    """

    legacy: dict[int, Values]
    ethic: Values

    def at(self, metric: str, n_submit: int | None = None) -> float:
        """Median of a metric; of DIET-ethic if no n_submit is given."""
        return median((self.ethic if n_submit is None else self.legacy[n_submit])[metric])


def compare(bench: Workbench, scenario: str, figure: str) -> Comparison:
    """Run legacy clients over all n_submit and ethic clients once, and draw the three metrics."""
    points = [{"client.dispatch": "legacy", "client.n_submit": n} for n in N_SUBMIT]
    *legacy, ethic = bench.evaluate(
        load(scenario), [*points, {"client.dispatch": "ethic"}], bench.replications
    )
    made = Comparison(dict(zip(N_SUBMIT, legacy, strict=True)), ethic)
    draw_comparison(bench.figure(figure), load(scenario).spec.title, made.legacy, made.ethic)
    return made


def everybody_happy(made: Comparison, experiment: str, source: str) -> Claim:
    """D1, which holds for every scenario."""
    worst = max(made.ethic["unhappy_users"])
    return Claim(
        "D1", experiment, "DIET-ethic leaves no user unhappy", source, "0 unhappy users in every run", worst,
        verdict(worst == 0),
    )  # fmt: skip


def simultaneous(bench: Workbench) -> list[Claim]:
    """Figure 4: everybody enters at once."""
    made = compare(bench, "diet/night-simultaneous", "figure-4")
    small, large = [n for n in N_SUBMIT if n <= 50], [n for n in N_SUBMIT if n >= 100]
    low = max(made.at("completed", n) for n in small) / made.at("completed")
    worst = min(made.at("completed", n) for n in large) / made.at("completed")
    spread = max(made.at("unfairness", n) for n in large)
    return [
        everybody_happy(made, "night-simultaneous", "figure 4"),
        Claim(
            "D2", "night-simultaneous", "legacy clients leave servers idle if n_submit is small", "figure 4",
            "n_submit up to 50: at most 60 % of DIET-ethic's completed requests", f"{low:.1%}",
            verdict(low <= 0.6),
        ),
        Claim(
            "D2", "night-simultaneous",
            "legacy behaves fairly well if n_submit is large (requests interleave)", "figure 4",
            "n_submit from 100: at least 98 % of DIET-ethic's completed, unfairness at most 0.1",
            f"{worst:.1%}, {spread:.3f}", verdict(worst >= 0.98 and spread <= 0.1),
        ),
    ]  # fmt: skip


def consecutive(bench: Workbench) -> list[Claim]:
    """Figure 5: users enter 0.1 s apart."""
    made = compare(bench, "diet/night-consecutive", "figure-5")
    ideal = made.at("completed", 100)
    fewer = all(made.at("completed", n) <= 10 * n for n in N_SUBMIT if n < 100)
    unhappy = {n: made.at("unhappy_users", n) for n in N_SUBMIT}
    first = min((n for n in N_SUBMIT if unhappy[n] > 0), default=None)
    gain = max(made.at("unfairness", n) for n in N_SUBMIT) / made.at("unfairness")
    return [
        everybody_happy(made, "night-consecutive", "figure 5"),
        Claim(
            "D3", "night-consecutive", "n_submit = 100 is ideal for the legacy system", "figure 5",
            "1000 completed, nobody unhappy", f"{ideal:.0f} completed, {unhappy[100]:.0f} unhappy",
            verdict(ideal == 1000 and unhappy[100] == 0),
        ),
        Claim(
            "D3", "night-consecutive", "fewer requests leave resources idle", "figure 5",
            "at most 10 n_submit completed below 100", "yes" if fewer else "no", verdict(fewer),
        ),
        Claim(
            "D3", "night-consecutive", "more requests make users unhappy", "figure 5",
            "unhappy users appear above n_submit = 100 and never below",
            f"first at {first}, {unhappy[1000]:.0f} of 10 users at 1000",
            verdict(first is not None and 100 < first <= 150 and unhappy[1000] > 0),
        ),
        Claim(
            "D3", "night-consecutive", "DIET-ethic improves fairness up to 150 times", "abstract, figure 5",
            "150 times, within a factor of 3", f"{gain:.0f} times", verdict(50 <= gain <= 450),
            "the factor divides two small differences: it depends on the spacing of legacy submissions",
        ),
        Claim(
            "D3", "night-consecutive", "DIET-ethic behaves as if everybody had guessed the ideal number",
            "section 5.1.2", "completed within 2 % of legacy at n_submit = 100",
            f"{made.at('completed'):.0f} against {ideal:.0f}",
            verdict(abs(made.at("completed") / ideal - 1) <= 0.02),
        ),
    ]  # fmt: skip


def regular(bench: Workbench) -> list[Claim]:
    """Figure 6: users enter 10 s apart."""
    made = compare(bench, "diet/day-regular", "figure-6")
    best = max(N_SUBMIT, key=lambda n: (-made.at("unhappy_users", n), made.at("completed", n), -n))
    kills = set(made.ethic["killed"])
    beyond = [n for n in N_SUBMIT if n >= 190]
    unfair = [made.at("unfairness", n) for n in beyond]
    completed = [made.at("completed", n) for n in beyond]
    return [
        everybody_happy(made, "day-regular", "figure 6"),
        Claim(
            "D4", "day-regular", "legacy behaves best at n_submit = 190", "figure 6",
            "190, 1890 completed, nobody unhappy",
            f"{best}, {made.at('completed', best):.0f} completed, "
            f"{made.at('unhappy_users', best):.0f} unhappy",
            verdict(best == 190 and made.at("completed", 190) == 1890 and made.at("unhappy_users", 190) == 0),
        ),
        Claim(
            "D4", "day-regular", "DIET-ethic completes 1842 requests (-2.5 %)", "figure 6",
            "1835 to 1855", made.at("completed"), verdict(1835 <= made.at("completed") <= 1855),
        ),
        Claim(
            "D4", "day-regular", "three mandatory requests of each of nine later users kill an optional one",
            "section 5.1.3", "27 kills in every run", ", ".join(f"{kill:.0f}" for kill in sorted(kills)),
            verdict(kills == {27.0}),
        ),
        Claim(
            "D4", "day-regular", "DIET-ethic is fairer, near the ideal", "figure 6",
            "unfairness at most 0.15, below legacy at n_submit = 190",
            f"{made.at('unfairness'):.3f} against {made.at('unfairness', 190):.3f}",
            verdict(made.at("unfairness") <= min(0.15, made.at("unfairness", 190))),
        ),
        Claim(
            "D5", "day-regular", "beyond 190 unfairness rises", "figure 6",
            "everywhere above its value at 190, largest at 1000",
            f"{unfair[0]:.2f} at 190, {min(unfair[1:]):.2f} to {unfair[-1]:.2f} beyond",
            verdict(min(unfair[1:]) > unfair[0] and max(unfair) == unfair[-1]),
        ),
        Claim(
            "D5", "day-regular", "beyond 190 slightly fewer requests complete (killed at the deadline)",
            "figure 6", "falls with n_submit, by less than 10 %",
            f"{completed[0]:.0f} to {completed[-1]:.0f}",
            verdict(completed == sorted(completed, reverse=True) and 0.9 < completed[-1] / completed[0] < 1),
        ),
    ]  # fmt: skip


def irregular(bench: Workbench, name: str, figure: str, number: int) -> list[Claim]:
    """Figures 7 and 8: users enter as on a working day, with equal or with random execution times."""
    made = compare(bench, f"diet/{name}", figure)
    source = f"figure {number}, section 5.1.4"
    happy = [n for n in N_SUBMIT if made.at("unhappy_users", n) == 0]
    best = max(happy, key=lambda n: made.at("completed", n))
    share = made.at("completed", best) / made.at("completed")
    half, double = _nearest(best / 2), _nearest(best * 2)
    loss = made.at("completed", half) / made.at("completed", best)
    unhappy = made.at("unhappy_users", double)
    dominating = [n for n in N_SUBMIT if _dominates(made, n)]
    return [
        everybody_happy(made, name, source),
        Claim(
            "D6", name, "there is an n_submit at which the legacy system behaves well", source,
            "at least 85 % of DIET-ethic's completed requests and nobody unhappy",
            f"n_submit = {best}: {share:.1%}",
            verdict(share >= 0.85),
        ),
        Claim(
            "D6", name, "it is hard to guess", source,
            "half of it completes at most 80 %, twice as many make users unhappy",
            f"n_submit = {half}: {loss:.0%}; n_submit = {double}: {unhappy:.0f} unhappy",
            verdict(loss <= 0.8 and unhappy > 0),
        ),
        Claim(
            "D6", name, "DIET-ethic tunes itself", source,
            "no n_submit is better in one metric and at least as good in the two others",
            ", ".join(map(str, dominating)) or "none", verdict(not dominating),
        ),
    ]  # fmt: skip


def scalability(bench: Workbench) -> list[Claim]:
    """Tables 1 and 2: 138 servers, 100 clients."""
    (made,) = bench.evaluate(load("diet/scalability"), [{}], bench.replications)
    completed, unfair = median(made["completed"]), median(made["unfairness"])
    return [
        Claim(
            "D1", "scalability", "DIET-ethic leaves no user unhappy", "table 2",
            "0 unhappy users in every run", max(made["unhappy_users"]),
            verdict(max(made["unhappy_users"]) == 0),
        ),
        Claim(
            "D7", "scalability", "13605 of 13800 requests complete", "table 2", "13500 to 13800", completed,
            verdict(13500 <= completed <= 13800),
        ),
        Claim(
            "D7", "scalability", "unfairness is low", "table 2", "at most 0.70",
            round(max(made["unfairness"]), 3), verdict(max(made["unfairness"]) <= 0.70),
        ),
        Claim(
            "D7", "scalability", "unfairness is 0.70", "table 2", "0.70", round(unfair, 3),
            "contradicted by the source",
            "serving the least served user first (section 4.1.1) with one request of each user at each "
            "server cannot spread users so far; the published value includes the contention of 100 clients "
            "for one machine",
        ),
    ]  # fmt: skip


def overhead(bench: Workbench) -> list[Claim]:
    """Figure 9: who works when."""
    run = simulate(load("diet/scalability"), bench.seed)
    load_of = group_load(run)
    draw_overhead(bench.figure("figure-9"), load_of)
    setup = max(stay.setup_end for stay in run.record.stays)
    monitoring = slice(int(setup) + 2, 100)
    master = load_of["master agent"][monitoring].max()
    server = load_of["busiest SeD"].max()
    client = load_of["client node"]
    clean_up = client[100:103].max()
    submitted = sum(
        count
        for (agent, kind, second), count in run.record.messages.items()
        if agent == "client-node" and kind == "submit" and monitoring.start <= second < monitoring.stop
    ) / (monitoring.stop - monitoring.start)
    return [
        Claim(
            "D8", "overhead", "the set-up phase takes about 13 s", "figure 9", "12 to 14 s", round(setup, 2),
            verdict(12 <= setup <= 14), "the spacing of submissions is calibrated on it",
        ),
        Claim(
            "D8", "overhead", "clients submit 138 requests per second while monitoring", "section 5.2",
            "135 to 141 per s", round(submitted, 1), verdict(135 <= submitted <= 141),
        ),
        Claim(
            "D8", "overhead", "the master agent idles after discovery", "figure 9",
            "0 messages while monitoring", f"{master:.1%} of its CPU at most", verdict(master == 0),
        ),
        Claim(
            "D8", "overhead", "servers stay below 5 % of their CPU", "section 5.2", "less than 5 %",
            f"{server:.1%} at most", verdict(server < 0.05), "the CPU time of a message is calibrated on it",
        ),
        Claim(
            "D8", "overhead", "the client node is saturated in the clean-up phase", "figure 9", "100 %",
            f"{clean_up:.0%}", verdict(clean_up >= 0.995),
        ),
    ]  # fmt: skip


def _nearest(wanted: float) -> int:
    """The n_submit that was run and is nearest."""
    return min(N_SUBMIT, key=lambda n: abs(n - wanted))


def _dominates(made: Comparison, n: int) -> bool:
    """Whether legacy with n_submit is no worse than DIET-ethic in all metrics and better in one."""
    differences = [
        made.at("unhappy_users") - made.at("unhappy_users", n),
        made.at("unfairness") - made.at("unfairness", n),
        made.at("completed", n) - made.at("completed"),
    ]
    return min(differences) >= 0 and max(differences) > 0


PAPER = Paper(
    "diet",
    "DIET-ethic: fair scheduling of optional computations in GridRPC middleware (RR-7959)",
    (
        Experiment("night-simultaneous", "Night-time simultaneous submissions", simultaneous),
        Experiment("night-consecutive", "Night-time consecutive submissions", consecutive),
        Experiment("day-regular", "Day-time submissions, regular arrivals", regular),
        Experiment(
            "day-irregular",
            "Day-time submissions, irregular arrivals",
            partial(irregular, name="day-irregular", figure="figure-7", number=7),
        ),
        Experiment(
            "day-irregular-random",
            "Irregular arrivals and random execution times",
            partial(irregular, name="day-irregular-random", figure="figure-8", number=8),
        ),
        Experiment("scalability", "138 servers and 100 clients", scalability),
        Experiment("overhead", "CPU time of middleware over the three phases", overhead),
    ),
)
