"""Sensitivity: indices that are known exactly, spaces with choices and conditions, what is said of gaps."""

import csv
import io
from math import exp, isnan, log, pi, sin

import pandas as pd
import pytest

from gridtune.model.metrics.registry import METRICS, Metric
from gridtune.optimize.commands.sensitivity import sensitivity_text
from gridtune.optimize.importance.picture import draw_sensitivity
from gridtune.optimize.importance.sensitivity import METHODS, Sensitivity, ranked, study_sensitivity
from gridtune.optimize.importance.simulator_sensitivity import design, simulated_sensitivity
from gridtune.optimize.report.numbers import path_label
from gridtune.optimize.runs.stored import SearchResult, archive_of
from gridtune.optimize.runs.table import RunTable
from gridtune.optimize.search_space.parameter import Parameter
from gridtune.optimize.search_space.settings import Settings, objectives_of
from gridtune.optimize.search_space.space import Space
from gridtune.scenarios import load
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.workers.pool import Pool
from tests.facts import missing
from tests.fronts import THREE, archive, search

X, Y, Z = "network.latency", "sed.speed", "client.spacing"


def analysed(space, work, *, method, samples, names=("unfairness",), seed=1, **options):
    plan = design(method, Space(tuple(space)), samples, seed)
    with Pool(1) as pool:
        return simulated_sensitivity(
            load("diet/day-regular"), plan, objectives_of(names), pool=pool, work=work, **options
        )


def numbers(found, k=0):
    return found.rankings[k].effects.set_index("path").drop(columns="active").to_dict("index")


def metrics(value):
    return {"unfairness": Metric(value, ""), "completed": Metric(7.0, "jobs")}


def ishigami(task):
    """Ishigami and Homma's function; the first argument comes on a logarithmic scale."""
    x, y, z = log(task.values[X]) - pi, task.values[Y], task.values[Z]
    return metrics(sin(x) + 7 * sin(y) ** 2 + 0.1 * z**4 * sin(x))


ISHIGAMI = [
    Parameter(X, (), 1.0, exp(2 * pi), log=True),
    Parameter(Y, (), -pi, pi),
    Parameter(Z, (), -pi, pi),
]


@pytest.mark.long
def test_sobol_gives_the_known_indices_of_ishigami():
    found = numbers(analysed(ISHIGAMI, ishigami, method="sobol", samples=1024))
    # Analytic: variances of the parts over the total, for a = 7, b = 0.1.
    known = {X: (0.3139, 0.5576), Y: (0.4424, 0.4424), Z: (0.0, 0.2437)}
    for path, (alone, total) in known.items():
        row = found[path]
        assert abs(row["S1"] - alone) <= max(row["S1_conf"], 0.01)
        assert abs(row["ST"] - total) <= max(row["ST_conf"], 0.01)
        assert row["S1_conf"] < 0.15
        assert row["ST_conf"] < 0.15


def conditional(task):
    """A number counts only where the choice asks for it."""
    return metrics(task.values.get(X, 0.0))


CONDITIONAL = [
    Parameter("client.dispatch", ("ethic", "legacy")),
    Parameter(X, (), 0.0, 1.0, when={"client.dispatch": ("legacy",)}),
]


@pytest.mark.long
def test_sobol_gives_the_known_indices_of_a_conditional_space():
    found = analysed(CONDITIONAL, conditional, method="sobol", samples=1024)
    # With K a fair coin and U uniform, K U has variance 5/48: 1/16 and 1/48 of it are explained alone.
    known = {"client.dispatch": (0.6, 0.8), X: (0.2, 0.4)}
    for path, (alone, total) in known.items():
        assert numbers(found)[path]["S1"] == pytest.approx(alone, abs=0.03)
        assert numbers(found)[path]["ST"] == pytest.approx(total, abs=0.03)
    active = found.rankings[0].effects.set_index("path")["active"]
    assert active["client.dispatch"] == 1024
    assert active[X] == pytest.approx(512, abs=2)


def linear(task):
    """3 across one range, 2 across another on its own scale, 5 between two choices."""
    values = task.values
    scaled = log(values[Y] / 0.1) / log(20)
    return metrics(3 * values[X] - 2 * scaled + (5 if values["client.dispatch"] == "legacy" else 0))


LINEAR = [
    Parameter("client.dispatch", ("ethic", "legacy")),
    Parameter(X, (), 0.0, 1.0),
    Parameter(Y, (), 0.1, 2.0, log=True),
    Parameter(Z, (), 0.0, 1.0),
]


def test_morris_gives_the_slopes_of_a_linear_function():
    found = numbers(analysed(LINEAR, linear, method="morris", samples=6))
    for path, slope in ((X, 3), (Y, -2), (Z, 0)):
        assert found[path]["mu"] == pytest.approx(slope)
        assert found[path]["mu_star"] == pytest.approx(abs(slope))
        assert found[path]["sigma"] == pytest.approx(0, abs=1e-9)
        assert found[path]["mu_star_conf"] == pytest.approx(0, abs=1e-9)
    assert found["client.dispatch"]["mu_star"] == pytest.approx(5)
    assert isnan(found["client.dispatch"]["mu"]), "choices have no direction"
    assert found["client.dispatch"]["sigma"] == pytest.approx(0, abs=1e-9)
    assert list(found) == ["client.dispatch", X, Y, Z]


@pytest.mark.parametrize("ratios", [False, True])
@pytest.mark.parametrize("most", [2, 3, 4, 5, 6, 8, 10])
def test_morris_scales_steps_of_whole_numbers_to_their_range(most, ratios):
    space = [Parameter("client.n_submit", (), 1, most, log=ratios, whole=True), Parameter(X, (), 0.0, 1.0)]

    def rising(task):
        number = task.values["client.n_submit"]
        return metrics(log(number) if ratios else number)

    found = numbers(analysed(space, rising, method="morris", samples=10))["client.n_submit"]
    assert found["mu"] == pytest.approx(log(most) if ratios else most - 1)
    assert found["sigma"] == pytest.approx(0, abs=1e-9)


def fifth(task):
    """Only the last of five choices differs."""
    return metrics(1.0 if task.values["client.dispatch"] == "e" else 0.0)


def test_morris_compares_all_choices_with_each_other():
    space = [Parameter("client.dispatch", tuple("abcde")), Parameter(X, (), 0.0, 1.0)]
    found = numbers(analysed(space, fifth, method="morris", samples=20))
    # Of the 20 ordered pairs of choices, 8 have the last one in them.
    assert found["client.dispatch"]["mu_star"] == pytest.approx(8 / 20)


def never(task):
    return metrics(task.values.get(X, 0.0) + task.values[Y])


def test_of_a_parameter_that_is_never_active_nothing_is_said():
    space = [
        Parameter("client.dispatch", ("ethic",)),
        Parameter(X, (), 0.0, 1.0, when={"client.dispatch": ("legacy",)}),
        Parameter(Y, (), 0.0, 1.0),
    ]
    found = analysed(space, never, method="morris", samples=4)
    last = found.rankings[0].effects.iloc[-1]
    assert (last["path"], last["active"]) == (X, 0)
    assert last[list(METHODS["morris"].columns)].isna().all()
    assert found.to_dict()["objectives"][0]["parameters"][-1]["mu_star"] is None
    assert numbers(found)[Y]["mu_star"] == pytest.approx(1)


def test_a_constant_objective_has_no_indices_but_a_reason():
    for method in ("morris", "sobol"):
        found = analysed(LINEAR, linear, method=method, samples=4, names=("completed", "unfairness"))
        assert found.rankings[0].effects.empty
        assert "7 at every configuration" in found.rankings[0].reason
        assert len(found.rankings[1].effects) == len(LINEAR)
        assert "7 at every configuration" in sensitivity_text(found, 200)
        table = found.table()
        assert set(table["objective"]) == {"unfairness"}
        assert table["active"].dtype == table["of"].dtype == int
    nothing = analysed(LINEAR, linear, method="morris", samples=4, names=("completed",)).table()
    assert nothing.to_csv(index=False) == "objective,parameter,mu_star,mu_star_conf,mu,sigma,active,of\n"


class Counting:
    """Counts what is simulated."""

    def __init__(self):
        self.seen = []

    def __call__(self, task):
        self.seen.append((str(task.values), task.seed, task.replication))
        return conditional(task)


def test_a_configuration_is_simulated_once_however_often_the_design_visits_it():
    work = Counting()
    found = analysed(CONDITIONAL, work, method="morris", samples=20, replications=2, seed=5)
    assert len(work.seen) == len(set(work.seen)) == 2 * found.evaluations
    assert found.evaluations < 20 * 3
    assert {(seed, replication) for _, seed, replication in work.seen} == {(5, 0), (5, 1)}


def test_equal_seeds_give_equal_numbers():
    for method, samples in (("morris", 4), ("sobol", 8)):
        once, again, other = (
            analysed(ISHIGAMI, ishigami, method=method, samples=samples, seed=seed) for seed in (0, 0, 1)
        )
        assert once.table().equals(again.table())
        assert not once.table().equals(other.table())


def failing(task):
    if task.values[X] > 0.9:
        raise RuntimeError("too\nlarge")
    return linear(task)


def test_samples_with_failures_are_left_out_and_named():
    found = analysed(LINEAR, failing, method="sobol", samples=16)
    assert 2 <= found.samples < 16
    assert not missing(found.notes[0], f"{16 - found.samples} of 16 base samples", "too large")
    short, whole = (sensitivity_text(found, 400, every=every) for every in (False, True))
    assert all(text.count(found.notes[0]) == text.count(found.basis()) == 1 for text in (short, whole))
    assert not missing(whole.splitlines()[-1], "active", "base samples")


def always_failing(task):
    raise RuntimeError("no")


def test_nothing_left_is_an_error():
    with pytest.raises(ScenarioError, match=r"failed, .* 0 trajectories.*RuntimeError: no"):
        analysed(LINEAR, always_failing, method="morris", samples=4)


@pytest.mark.parametrize(
    ("method", "samples", "message"),
    [("fast", 4, "there are morris, sobol"), ("sobol", 100, "64 or 128"), ("morris", 1, "at least 2")],
)
def test_what_cannot_be_designed_is_refused(method, samples, message):
    with pytest.raises(ScenarioError, match=message):
        analysed(LINEAR, linear, method=method, samples=samples)


def kept(found):
    """As if this archive had been searched over the space of its values."""
    space = [
        Parameter("client.dispatch", ("ethic", "legacy")),
        Parameter("client.n_submit", (), 10, 1000, True, True, {"client.dispatch": ("legacy",)}),
        Parameter("client.dispatch.window", (), 1, 8, False, True, {"client.dispatch": ("ethic",)}),
        Parameter("client.spacing", (), 1e-4, 1e-2),
        Parameter("sed.strict", (True, False)),
    ]
    return SearchResult(settings(Space(tuple(space)), found.objectives), found)


def settings(space, objectives):
    return Settings(load("diet/day-regular"), space, tuple(objectives), "tpe", 1, 1, 1)


def test_a_stored_search_knows_whose_logarithms_count():
    space = Space((Parameter(X, (), 0.1, 1.0, log=True), Parameter(Y, (), 0.1, 1.0)))
    assert archive_of("s", RunTable(settings(space, THREE)), ()).logarithmic == {X}


@pytest.mark.long
def test_importances_name_what_a_search_depended_on():
    found = study_sensitivity(kept(search(300)), THREE)
    for ranking in found.rankings:
        rows = ranking.effects.set_index("path")
        assert rows["importance"].sum() == pytest.approx(1)
        # The toy ignores these two.
        for path in ("client.spacing", "sed.strict"):
            assert rows["importance"][path] < 0.1
        active = rows["active"]
        assert active["client.n_submit"] + active["client.dispatch.window"] == 300
        assert active["client.dispatch"] == 300
        assert rows.index[0] in ("client.n_submit", "client.dispatch.window")


def test_a_constant_objective_of_a_study_has_no_importances():
    space = Space((Parameter("client.n_submit", (), 0, 29, whole=True),))
    found = archive(THREE[:2], *[(0.0, float(k)) for k in range(30)])
    study = SearchResult(settings(space, THREE[:2]), found)
    found = study_sensitivity(study, THREE[:2])
    assert "0 in every evaluation" in found.rankings[0].reason
    assert found.rankings[1].effects["path"][0] == "client.n_submit"


def test_too_small_a_study_and_unknown_metrics_are_refused():
    with pytest.raises(ScenarioError, match="at least 20 are needed"):
        study_sensitivity(kept(search(10)), THREE)
    with pytest.raises(ScenarioError, match="wasted_work was not measured"):
        study_sensitivity(kept(search(30)), objectives_of(["wasted_work"]))
    assert "wasted_work" in METRICS


@pytest.mark.parametrize("method", ["morris", "sobol"])
def test_pictures_show_every_parameter_of_every_objective(method):
    found = analysed(LINEAR, linear, method=method, samples=4, names=("unfairness", "completed"))
    drawing = draw_sensitivity(found)
    shown = [label.get_text() for label in drawing.axes[0].get_yticklabels()]
    effects = found.rankings[0].effects
    paths = effects["path"].tolist()
    assert shown == [path_label(path, paths) for path in paths]
    assert len(shown) == 4
    assert "7 at every configuration" in drawing.axes[1].texts[0].get_text().replace("\n", " ")
    widths = [bar.get_width() for bar in drawing.axes[0].patches]
    assert widths == effects[METHODS[method].main].tolist()


def test_csv_and_json_hold_the_numbers_in_full():
    found = analysed(ISHIGAMI, ishigami, method="sobol", samples=16)
    rows = list(csv.DictReader(io.StringIO(found.table().to_csv(index=False))))
    made = found.to_dict()["objectives"][0]["parameters"]
    assert [float(row["ST"]) for row in rows] == [entry["ST"] for entry in made]
    assert rows[0].keys() == {"objective", "parameter", "ST", "ST_conf", "S1", "S1_conf", "active", "of"}


def test_long_paths_are_distinct_in_short_lines():
    tails = ("classes.short_deadline.virtual_slots", "kind")
    paths = [
        f"{table}.{name}.{tail}" for table in ("site", "wms") for name in ("lal", "lip") for tail in tails
    ]
    rows = pd.DataFrame({"path": paths, "ST": 0.5, "ST_conf": 0.1, "S1": 0.2, "S1_conf": 0.1, "active": 8})
    found = Sensitivity("long", "sobol", (ranked(THREE[1], rows, "sobol"),), 8, 8, 1, 1)
    shown = [label.get_text() for label in draw_sensitivity(found).axes[0].get_yticklabels()]
    assert [label.replace("\n", "") for label in shown] == sorted(paths)
    assert all(len(line) <= 29 for label in shown for line in label.splitlines())
