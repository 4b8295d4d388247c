"""The explorer in a real browser, as its rule makes it from committed records."""

import csv
import io
import json
import math
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

from preln.placements import PLACEMENTS
from preln.records.packed import read_bytes
from preln.report.html import explorer
from tests.conftest import MakeOnce
from tests.workflow.conftest import ROOT, Workspace, assert_dark, copy_repository, on_a_phone

STUDIES = ("first-updates", "placements", "placements-real", "widths")
POST = "placements/translation/post-adam-lr3e-3-const-s1"
DIVERGED = "placements/translation/t-fixup-adam-lr9.5e-3-const-wu180-s1"
REAL = "placements-real/translation/lns-adam-lr2.375e-3-const-wu1333-drop2-s1"
TRACE = "first-updates/first-updates/post-adam-lr5e-4-wu1333-s1"


@pytest.fixture(scope="module")
def workspace(make_once: MakeOnce) -> Workspace:
    """A copy of the repository with the records of some studies, and the page of them."""

    def fill(folder: Path) -> None:
        made = copy_repository(folder)
        for study in STUDIES:
            results = folder / "results" / study
            results.mkdir(parents=True)
            shutil.copy(ROOT / "config" / f"{study}.yaml", results / "study.yaml")
            for file in ("records.jsonl", "updates.csv"):
                if (ROOT / "results" / study / file).exists():
                    shutil.copy(ROOT / "results" / study / file, results)
        made.snakemake("write_explorer")

    return Workspace(make_once("the explorer", fill))


@pytest.fixture
def browser(chromium: webdriver.Chrome, workspace: Workspace) -> Iterator[webdriver.Chrome]:
    """The browser, which has the page open at a run of Post-LN without a warm-up."""
    chromium.set_window_size(1200, 900)
    visit(chromium, workspace, POST)
    yield chromium
    console = chromium.execute("getLog", {"type": "browser"})["value"]
    assert not [entry for entry in console if entry["level"] == "SEVERE"]


def visit(browser: webdriver.Chrome, workspace: Workspace, run: str) -> None:
    browser.get("about:blank")
    browser.get(f"{(workspace.folder / 'results' / 'explorer.html').as_uri()}#{run}")


def text(browser: webdriver.Chrome, name: str) -> str:
    return browser.find_element(By.ID, name).text


def controls(browser: webdriver.Chrome) -> dict[str, WebElement]:
    """The controls by their titles."""
    return dict(zip(explorer.CONTROLS, browser.find_elements(By.CSS_SELECTOR, "#controls select"), strict=True))


def chosen(browser: webdriver.Chrome) -> dict[str, str]:
    return {title: Select(control).first_selected_option.text for title, control in controls(browser).items()}


def settings_of(run: str) -> Any:
    """The settings of a run or a trace, from its record."""
    identity = json.loads(read_bytes(ROOT / "results" / run / "run.json"))["identity"]
    return identity.get("run", identity)


def rows_of(run: str, file: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(read_bytes(ROOT / "results" / run / file).decode())))


def ending(run: str) -> str:
    """The end of a run in words, from its record."""
    if "/first-updates/" in run:
        return f"{float(rows_of(run, 'updates.csv')[-1]['loss']):g} bits a token"
    metrics = json.loads(read_bytes(ROOT / "results" / run / "metrics.json"))
    if metrics["diverged"]:
        return f"diverged at update {metrics['diverged']['update']}"
    return f"{metrics['final']['valid_loss']:g} bits a token"


def test_every_run_is_there_and_no_two_have_the_same_choice(workspace: Workspace) -> None:
    page = (workspace.folder / "results" / "explorer.html").read_text(encoding="utf-8")
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    runs = json.loads(data)["runs"]
    jobs = [
        f"{study}/{json.loads(line)['job']}"
        for study in STUDIES
        for line in (ROOT / "results" / study / "records.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    ]
    expected = [job for job in jobs if "/theory/" not in job]
    assert sorted(folder for run in runs for folder in run["folders"]) == sorted(expected)
    assert len({tuple(run["choice"]) for run in runs}) == len(runs)


@pytest.mark.parametrize("title", [title for title in explorer.CONTROLS if title != "Layers"])
def test_each_control_shows_the_numbers_of_the_run_that_it_chooses(title: str, browser: webdriver.Chrome) -> None:
    before = chosen(browser)
    control = controls(browser)[title]
    is_last = Select(control).options[-1].text == before[title]
    control.send_keys(Keys.ARROW_UP if is_last else Keys.ARROW_DOWN)
    after, run = chosen(browser), text(browser, "link")
    assert after[title] != before[title]
    settings = settings_of(run)
    assert after["Placement"] == PLACEMENTS[settings["placement"]].label
    assert after["Layers"] == f"{settings['encoder_layers']}-{settings['decoder_layers']}"
    for name, key in (("Width", "width"), ("Warm-up", "warmup"), ("Seed", "seed")):
        assert after[name] == str(settings[key])
    assert float(after["Peak rate"]) == settings["learning_rate"]
    assert ("RMSNorm" in after["Other settings"]) == (settings.get("norm") == "rms")
    assert text(browser, "loss") == ending(run)


def test_the_depths_are_those_of_the_runs_chosen_before_it(browser: webdriver.Chrome, workspace: Workspace) -> None:
    visit(browser, workspace, "placements/first-updates/post-adam-lr3e-6-const-s1")
    assert [option.text for option in Select(controls(browser)["Layers"]).options] == ["6-6", "12-12", "18-18"]
    Select(controls(browser)["Layers"]).select_by_visible_text("12-12")
    run = text(browser, "link")
    assert (settings_of(run)["encoder_layers"], settings_of(run)["placement"]) == (12, "post")
    assert text(browser, "loss") == ending(run)


@pytest.mark.parametrize("run", [POST, DIVERGED])
def test_an_address_restores_a_run_with_its_curve_beside_that_of_pre_ln(
    run: str, browser: webdriver.Chrome, workspace: Workspace
) -> None:
    visit(browser, workspace, run)
    assert text(browser, "link") == run
    assert text(browser, "loss") == ending(run)
    pre = re.sub("/(post|t-fixup)-", "/pre-", run)
    assert text(browser, "versus") == f"Pre-LN: {ending(pre)}."
    titles = {title.get_attribute("textContent") for title in browser.find_elements(By.CSS_SELECTOR, "#curve title")}
    for shown in (run, pre):
        label = PLACEMENTS[settings_of(shown)["placement"]].label
        for point in rows_of(shown, "curve.csv"):
            assert f"{label}: {float(point['valid_loss']):.4g}, update {point['updates']}" in titles


def test_the_gradients_are_those_of_the_trace_of_the_model(browser: webdriver.Chrome, workspace: Workspace) -> None:
    assert text(browser, "traces").startswith("Traced: placements/first-updates/post-")
    visit(browser, workspace, TRACE)
    first = rows_of(TRACE, "updates.csv")[1]
    titles = {
        title.get_attribute("textContent") for title in browser.find_elements(By.CSS_SELECTOR, "#gradients title")
    }
    for layer in ("encoder.1", "decoder.6"):
        assert f"Post-LN, update 1: {float(first[f'gradient_norm.{layer}']):.4g}, {layer}" in titles
    visit(browser, workspace, REAL)
    assert browser.find_element(By.ID, "untraced").is_displayed()


def test_the_map_has_the_mean_of_the_seeds_and_a_cell_chooses_its_run(browser: webdriver.Chrome) -> None:
    current = browser.find_element(By.CSS_SELECTOR, "#map [aria-current=true]")
    losses = [float(rows_of(POST.replace("-s1", f"-s{seed}"), "curve.csv")[-1]["valid_loss"]) for seed in (1, 2)]
    assert math.isclose(float(current.text.split("\n")[0]), sum(losses) / 2, rel_tol=1e-3)
    assert "2 of 2 fail" in current.text
    browser.find_element(By.CSS_SELECTOR, "#map tr:nth-child(3) button").send_keys(Keys.ENTER)
    assert (chosen(browser)["Peak rate"], chosen(browser)["Warm-up"]) == ("3e-4", "180")
    assert text(browser, "loss") == ending("placements/translation/post-adam-lr3e-4-const-wu180-s1")
    assert browser.switch_to.active_element.get_attribute("aria-current") == "true"


def test_a_window_of_400_pixels_shows_it_without_scrolling_sideways(browser: webdriver.Chrome) -> None:
    with on_a_phone(browser, 400):
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
        for letters in browser.find_elements(By.CSS_SELECTOR, ".chart > svg > text"):
            assert letters.rect["height"] > 8


def test_at_night_page_and_charts_are_dark_with_light_letters(browser: webdriver.Chrome) -> None:
    assert_dark(browser, "h1", "select", ".chart", "#map")


def test_the_page_loads_nothing_from_elsewhere(browser: webdriver.Chrome) -> None:
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


def test_a_runs_command_trains_it_alone(browser: webdriver.Chrome, workspace: Workspace, fresh: Workspace) -> None:
    visit(browser, workspace, REAL)
    shutil.copytree(workspace.folder / "results" / "placements-real", fresh.folder / "results" / "placements-real")
    outcome = fresh.run(*text(browser, "command").split(), "--dry-run")
    assert outcome.computed == {REAL.rpartition("/")[2]}
