"""The live view: what can be set, what is drawn, and the page in a browser."""

import http.client
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gridtune.model.job import RUNNING
from gridtune.scenarios import load, simulate
from gridtune.scenarios.commands import watch as command
from gridtune.scenarios.errors import ScenarioError
from gridtune.scenarios.simulation.grid_model import GridModel
from gridtune.scenarios.watch import pictures
from gridtune.scenarios.watch.controls import AS_IN_SCENARIO, changes, controls_of
from gridtune.scenarios.watch.occupancy import occupancy
from tests.processes import PATIENCE, until

DAY = "diet/day-regular"


def shown(controls, **changed):
    """What the controls show, some of them changed by hand."""
    values = {path: control.widget["value"] for path, control in controls.items()}
    return values | {path.replace("__", "."): value for path, value in changed.items()}


@pytest.mark.parametrize("name", [DAY, "cigri/search", "federation/small", "dirac/search"])
def test_controls_that_nobody_touches_change_nothing(name):
    controls = controls_of(load(name))
    assert len(controls) >= 3
    assert changes(controls, shown(controls)) == {}


def test_what_is_set_counts_only_under_its_conditions():
    controls = controls_of(load(DAY))
    assert changes(controls, shown(controls, client__dispatch="legacy", client__n_submit="50")) == {
        "client.dispatch": "legacy",
        "client.n_submit": 50,
    }
    assert changes(controls, shown(controls, client__n_submit="50")) == {}
    assert changes(controls, shown(controls, client__dispatch__window=4)) == {"client.dispatch.window": 4}


def test_policies_that_the_search_does_not_vary_have_controls_too():
    controls = controls_of(load("dirac/search"))
    assert {"easy", "conservative", "fcfs"} <= set(controls["platform.policy"].widget["values"])
    harvest = controls_of(load("cigri/file-system").override({"harvester.controller": "p"}))
    assert harvest["harvester.controller"].widget["value"] == "p"
    searched = controls_of(load("cigri/search"))
    assert searched["harvester.controller.settling"].widget["value"] == AS_IN_SCENARIO


@pytest.mark.long
def test_every_value_of_a_control_is_one_that_the_scenario_takes():
    scenario = load("federation/small")
    controls = controls_of(scenario)
    for path, control in controls.items():
        widget = control.widget
        ends = widget["values"][-1:] if widget["type"] == "Select" else [widget["max"]]
        for value in ends:
            scenario.override(changes(controls, shown(controls, **{path: value})))


def test_places_hold_what_runs_and_queue_what_waits():
    model = GridModel("federation/small", step_length=1800.0)
    model.step()
    places = {place.name: place for place in occupancy(model)}
    running = [job for job in model.record.jobs if job.state is RUNNING and job.site == "lyon"]
    assert running
    assert sum(places["lyon"].running.values()) >= sum(job.processors for job in running)
    assert all(sum(place.running.values()) <= place.slots for place in places.values())
    waiting = sum(str(job.state) == "queued" for job in model.record.jobs)
    assert waiting > 0
    assert sum(place.waiting for place in places.values()) == waiting


def test_slots_of_servers_on_leases_are_counted_with_their_site_alone():
    model = GridModel("federation/small", step_length=7200.0)
    model.step()
    places = occupancy(model)
    assert {place.name for place in places if place.leased} == {
        f"{name}-{k:03}" for name in ("sed", "server") for k in range(8)
    }
    assert sum(place.slots for place in places if not place.leased) == 32 + 32 + 30
    texts = [text.get_text() for text in pictures.draw(pictures.sites, model).texts]
    assert any(re.fullmatch(r"Sites: \d+ of 94 slots held", text) for text in texts), texts


def test_many_places_are_shown_in_groups():
    (group,) = occupancy(GridModel(DAY, sed__count=138))
    assert (group.name, group.slots) == ("sed (138)", 138)


@pytest.mark.parametrize("name", [DAY, "federation/small"])
def test_pictures_can_be_drawn_at_any_moment(name):
    model = GridModel(name, step_length=600.0 if name != DAY else 60.0)
    fills = (pictures.sites, pictures.users, pictures.objectives, pictures.jobs)
    for _ in range(2):
        drawn = [pictures.draw(fill, model) for fill in fills]
        model.step()
    objectives = {"unhappy_users", "unfairness", "completed", *model.source.spec.search.objectives}
    assert [len(picture.axes) for picture in drawn] == [2, 1, len(objectives), 1]
    assert drawn[2].axes[2].lines[0].get_ydata()[-1] == model.datacollector.model_vars["completed"][0]


@pytest.mark.parametrize("missing", ["solara", "altair"])
def test_without_the_extra_it_says_how_to_get_it(monkeypatch, missing):
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == missing else object())
    with pytest.raises(ScenarioError, match=rf"{missing} .* pip install 'gridtune\[watch\]'"):
        command.watch(load(DAY), 1, steps=200, step_length=None, port=0, browser=False)


def test_what_else_the_extra_brings_is_named_too(monkeypatch):
    monkeypatch.setattr(command, "find_spec", lambda name: object())
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.setitem(sys.modules, "solara", None)
    with pytest.raises(ScenarioError, match=r"watch: .*solara.*; .* pip install 'gridtune\[watch\]'"):
        command.watch(load(DAY), 1, steps=200, step_length=1.0, port=0, browser=False)


def test_where_somebody_listens_another_port_is_taken(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with command._listen(port) as listener:
            host, other = listener.getsockname()
    assert (host, other != port, other > 0) == ("127.0.0.1", True, True)
    assert f"port {port} is taken" in capsys.readouterr().err


def test_the_page_that_a_browser_is_started_with_is_for_one_user_alone():
    address = "http://127.0.0.1:8765/?token=abc"
    with command._leading_to(address) as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert f"url={address}" in path.read_text()
    assert not path.exists()


def test_what_the_controls_say_is_run_and_what_is_not_possible_is_said():
    pytest.importorskip("solara", reason="the extra [watch] is not installed")
    pytest.importorskip("networkx", reason="the extra [watch] is not installed")
    from gridtune.scenarios.watch.page import WatchedGrid

    scenario = load(DAY).override({"step_length": 50.0})
    controls = controls_of(scenario)
    model = WatchedGrid(scenario, controls, "2", **shown(controls, client__dispatch="legacy"))
    model.run_model()
    expected = simulate(scenario.override({"client.dispatch": "legacy"}), 2).metrics
    assert model.metrics["unfairness"] == expected["unfairness"]
    wrong = WatchedGrid(scenario, controls, "two")
    assert wrong.fault.startswith("seed: 'two' ")
    assert not wrong.running


@pytest.fixture
def browser():
    pytest.importorskip("solara", reason="the extra [watch] is not installed")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in (
        "headless=new",
        "no-sandbox",
        "disable-dev-shm-usage",
        "disable-gpu",
        "window-size=1500,1150",
    ):
        options.add_argument(f"--{argument}")
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield made
    made.quit()


@pytest.fixture
def address():
    pytest.importorskip("solara", reason="the extra [watch] is not installed")
    arguments = ["watch", DAY, "--no-browser", "--port", "0", "--step-length", "20"]
    source = Path(__file__).parent.parent / "src"
    environment = os.environ | {"PYTHONPATH": str(source)}
    with subprocess.Popen(
        [sys.executable, "-m", "gridtune", *arguments], stdout=subprocess.PIPE, text=True, env=environment
    ) as server:
        yield server.stdout.readline().split()[0]
        server.terminate()
        assert server.wait(20) == 0


def answered(address, path="/", **headers):
    """Status of an answer to a request, and its cookie."""
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(address).port, timeout=PATIENCE)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    cookie = (answer.headers["set-cookie"] or "").partition(";")[0]
    connection.close()
    return answer.status, cookie


def test_a_strangers_page_gets_neither_the_page_nor_the_socket(address):
    """By plain requests, as any page, program or other user of the machine can send them."""
    parts = urlsplit(address)
    until(lambda: not refuses(parts.port))
    own, evil = f"http://{parts.netloc}", "http://evil.example"
    query = f"/?{parts.query}"
    upgrade = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    socket_path = "/jupyter/api/kernels/abc/channels?session_id=1"
    status, cookie = answered(address, query)
    assert (status, bool(cookie)) == (303, True)
    mine = {"Cookie": f'odd={{"a b"}}; {cookie}'}
    assert answered(address, "/", **mine)[0] == 200
    for path in (
        "/",
        "/static/main.js",
        "/readyz",
        "/?token=abc",
        "/?token=",
        "/?token=%ff",
        f"/x{query[1:]}",
    ):
        assert answered(address, path)[0] == 403, path
    for host in ("evil.example", f"evil.example:{parts.port}", "127.0.0.1", f"127.0.0.1:{parts.port - 1}"):
        assert answered(address, query, Host=host)[0] == 403, host
        assert answered(address, "/", Host=host, **mine)[0] == 403, host
    for origin in (evil, "null", f"http://127.0.0.1:{parts.port - 1}", f"https://{parts.netloc}"):
        assert answered(address, "/", Origin=origin, **mine)[0] == 403, origin
        assert answered(address, socket_path, Origin=origin, **upgrade, **mine)[0] == 403, origin
    assert answered(address, socket_path, Origin=own, **upgrade)[0] == 403
    assert answered(address, f"{socket_path}&{parts.query}", Origin=own, **upgrade)[0] == 403
    wrong = cookie.partition("=")[0] + "=" + "x" * 43
    assert answered(address, socket_path, Origin=own, **upgrade, Cookie=wrong)[0] == 403


def refuses(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) != 0


def test_the_page_steps_plays_and_resets_in_a_browser(address, browser):
    from selenium.webdriver.support.ui import WebDriverWait

    def step_of(driver):
        found = driver.find_elements("xpath", "//*[starts-with(normalize-space(text()), 'Step:')]")
        return int(found[0].text.removeprefix("Step:")) if found else -1

    def click(label):
        browser.find_element("xpath", f"//button[contains(., '{label}')]").click()

    assert address.startswith("http://127.0.0.1:")
    wait = WebDriverWait(browser, 60, 0.2)
    browser.get(address)
    wait.until(lambda driver: step_of(driver) == 0)
    wait.until(lambda driver: len(driver.find_elements("css selector", "img")) >= 4)
    assert "client.dispatch" in browser.find_element("tag name", "body").text
    click("Step")
    wait.until(lambda driver: step_of(driver) == 1)
    click("▶")
    wait.until(lambda driver: step_of(driver) >= 2)
    click("Reset")
    wait.until(lambda driver: step_of(driver) == 0)
    assert len(browser.get_screenshot_as_png()) > 20_000
