"""The page of a front is one file that loads nothing, says what to do, and draws without a library."""

import html
import json
import re
from dataclasses import replace

import pytest

from gridtune.optimize.front.against_today import NOTHING
from gridtune.optimize.front.export import to_dict
from gridtune.optimize.front.front import front
from gridtune.optimize.front.terminal import table
from gridtune.optimize.visualization import save
from gridtune.optimize.visualization.page import page
from tests.chromium import document
from tests.fronts import THREE, archive, search

PRESENT = {"client.dispatch": "legacy", "client.n_submit": 190, "client.spacing": 1e-3, "sed.strict": True}


def with_today(points=60):
    study = search(points)
    tested = [e.number for e in study.evaluations if e.validated]
    return replace(study, today=tested[len(tested) // 2], present=PRESENT)


@pytest.fixture(scope="module")
def found():
    return front(with_today())


@pytest.fixture(scope="module")
def text(found):
    return page(found)


def markup(text):
    """The page without its scripts."""
    return re.sub(r"<script[^>]*>.*?</script>", "", text, flags=re.S)


def data(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text)[1])


def test_the_page_loads_nothing_and_evaluates_nothing(text):
    assert not re.search(r"<(script|img|iframe)[^>]*\ssrc=", markup(text))
    assert "<link" not in markup(text)
    assert "http" not in text.replace("http-equiv", "")
    assert "@import" not in text
    assert "default-src 'none'" in text
    assert "unsafe-eval" not in text
    assert not re.search(r"\beval\(|new Function", text)
    assert len(text) < 100_000


def test_the_page_opens_with_what_to_do(text):
    shown = html.unescape(markup(text))
    assert "<h1>diet/day-regular, study regular: front</h1>" in shown
    assert "60 of 60 evaluations, 4 replications each, sampler tpe, seed 1" in shown
    assert shown.index("What to do") < shown.index('id="pairs"') < shown.index("Points of the front")
    assert (
        shown.index("Points of the front")
        < shown.index("<details>")
        < shown.index("run again on fresh seeds.")
    )
    card = shown[shown.index('class="card"') :]
    assert "best" in card[: card.index("</h3>")]
    assert re.search(r'class="gain">\w[\w ]* (lower|higher) by \S+( \w+)? \(\S+ to \S+\)<', card)


def test_equal_recommendations_share_a_card(found, text):
    from gridtune.optimize.front.recommendations import grouped, recommend

    assert markup(text).count('class="card"') == len(grouped(recommend(found)))


def test_a_front_that_is_no_better_than_today_says_so_in_one_card():
    points = [((k % 2, 0.1 * (k % 3), 5) * 1) for k in range(3)]
    same = archive(THREE, *points, fresh=[((0, 1, 0), (0.1, 0.2, 0.3), (5, 6, 7))] * 3, today=0)
    assert html.unescape(markup(page(front(same)))).count(NOTHING) == 2, "the card, and the summary below"


def test_the_table_holds_today_and_every_member_with_three_digits(found, text):
    shown = markup(text)
    others = [m for m in found.members if m.evaluation.number != found.archive.today]
    assert len(re.findall(r"<tr[ >]", shown)) == len(others) + 2, "titles, today, and the others"
    for member in found.members:
        if member.evaluation.number != found.archive.today:
            assert f'data-number="{member.evaluation.number}"' in shown
    assert 'data-number="-1" class="today"' in shown
    assert not re.search(r"<td>[^<]*\d\.\d{6}", shown)


def test_the_pictures_get_all_points_with_what_moved_them(found, text):
    drawn = data(text)
    assert len(drawn["members"]) == len(found.members)
    assert len(drawn["cloud"]) == len(found.archive.evaluations)
    assert drawn["today"] is not None
    one, member = drawn["members"][0], found.members[0]
    assert one["at"] == pytest.approx([found.value(one["number"], o) for o in THREE], rel=1e-5)
    assert one["before"] == pytest.approx(
        [member.evaluation.objectives[o.name].mean for o in THREE], rel=1e-5
    )
    assert {len(axis["at"]) for axis in drawn["axes"]} == {len(found.members)}
    assert "client.dispatch" in {axis["about"] for axis in drawn["axes"]}


def test_hostile_names_stay_text():
    study = archive(THREE, (0, 0.1, 5), (1, 0.0, 6))
    points = [
        type(e)(e.number, {"a": "</script><script>alert(1)</script>"}, e.objectives, {})
        for e in study.evaluations
    ]
    text = page(front(type(study)("<b>x", "s", THREE, tuple(points))))
    assert "alert(1)</script>" not in text
    assert "<b>x" not in text


def test_one_objective_and_an_empty_front_have_a_page(tmp_path):
    save(front(search(30, objectives=1)), tmp_path / "one.html")
    assert len(data((tmp_path / "one.html").read_text(encoding="utf-8"))["objectives"]) == 1
    empty = page(front(archive(THREE)))
    assert "there is no front" in empty
    assert "<canvas" not in empty


PROBE = """<script>
const box = document.getElementById("pairs"), r = box.getBoundingClientRect();
const at = (kind, x, y) => box.dispatchEvent(new PointerEvent(kind,
  {clientX: r.left + x, clientY: r.top + y, pointerId: 1, bubbles: true}));
const shown = () => document.querySelectorAll("#points tbody tr:not(.hidden)").length;
const all = shown();
box.setPointerCapture = () => {};
at("pointerdown", 70, 12); at("pointermove", 85, 30); at("pointerup", 85, 30);
const some = shown();
box.dispatchEvent(new MouseEvent("dblclick"));
const pixels = box.getContext("2d").getImageData(0, 0, box.width, box.height).data.filter((v) => v).length;
document.title = JSON.stringify({all, some, back: shown(), pixels, failed: window.failed || "",
  wide: document.documentElement.scrollWidth, window: window.innerWidth});
</script></body>"""


@pytest.mark.parametrize("points", [300, 5000])
def test_a_browser_draws_it_within_the_window_and_the_table_follows_the_choice(points, tmp_path):
    study = with_today(300)
    many = tuple(replace(study.evaluations[k % 300], number=k, values={**study.evaluations[k % 300].values,
                 "client.spacing": 1e-4 + 1e-6 * k}) for k in range(points))  # fmt: skip
    text = page(front(replace(study, evaluations=many), resamples=5))
    text = text.replace(
        "<head>", "<head><script>window.onerror = (why) => { window.failed = why; };</script>"
    )
    file = tmp_path / "front.html"
    file.write_text(text.replace("</body>", PROBE), encoding="utf-8")
    seen = json.loads(html.unescape(re.search(r"<title>(.*?)</title>", document(file))[1]))
    assert seen["failed"] == ""
    assert seen["pixels"] > 10_000
    assert seen["some"] < seen["all"] == seen["back"]
    assert seen["wide"] <= seen["window"]


def test_todays_chance_is_shown_also_where_it_is_not_kept(found):
    today = found.archive.today
    fallen = replace(found, members=tuple(m for m in found.members if m.evaluation.number != today))
    chance = fallen.judgement.chances[today]
    assert to_dict(fallen)["today"]["probability_non_dominated"] == chance
    (line,) = [line for line in table(fallen, 30).splitlines() if line.startswith("P ")][:1]
    assert line.split() == ["P", f"{chance:.2f}"]
    row = re.search(r"<tr[^>]*>(?:(?!</tr>).)*>today<.*?</tr>", page(fallen), re.S)[0]
    assert f">{chance:.2f}<" in row
    assert to_dict(replace(fallen, judgement=None))["today"]["probability_non_dominated"] is None
