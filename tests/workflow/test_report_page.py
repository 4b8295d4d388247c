"""The report in a real browser, of the studies whose records are in the repository."""

import io
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from preln.config import of_results
from preln.report.html import page
from tests.conftest import ROOT, MakeOnce
from tests.workflow.conftest import assert_dark, on_a_phone

STUDIES = ["quick-record", "iwslt14-50k-cpu", "iwslt14-theory", "first-updates", "language-map"]
"""Committed studies, which have every kind of section between them."""


@pytest.fixture(scope="module")
def open_page(chromium: webdriver.Chrome, make_once: MakeOnce) -> Callable[[str], webdriver.Chrome]:
    """Opens the report of a study in the browser, unfolds all of it, and waits until its charts are drawn."""

    def opened(name: str) -> webdriver.Chrome:
        def fill(folder: Path) -> None:
            page.write(of_results(ROOT / "results" / name / "study.yaml"), ROOT / "results", folder / "report.html")

        chromium.set_window_size(1200, 900)
        chromium.get((make_once(f"the report of {name}", fill) / "report.html").as_uri())
        wait_for_charts(chromium)
        return chromium

    return opened


# Its scope lets the tests of a page stand together, and the first of them open it.
@pytest.fixture(params=STUDIES, scope="module")
def browser(request: pytest.FixtureRequest, open_page: Callable[[str], webdriver.Chrome]) -> webdriver.Chrome:
    """The browser with a study's report in it, as its tests leave it to each other."""
    return open_page(request.param)


@pytest.fixture
def curves(open_page: Callable[[str], webdriver.Chrome]) -> webdriver.Chrome:
    """The browser with a report of curves in it, which a test may sort, filter and click on."""
    return open_page("iwslt14-50k-cpu")


def wait_for_charts(browser: webdriver.Chrome) -> None:
    browser.execute_script("for (const details of document.querySelectorAll('details')) details.open = true")
    charts = len(browser.find_elements(By.CSS_SELECTOR, ".chart"))
    WebDriverWait(browser, 30).until(lambda driver: len(driver.find_elements(By.CSS_SELECTOR, ".chart svg")) == charts)


def ink(element: WebElement) -> float:
    """The share of an element's picture that is not white."""
    picture = np.asarray(Image.open(io.BytesIO(element.screenshot_as_png)).convert("L"))
    return float((picture < 250).mean())


def visible(rows: list[WebElement]) -> list[str]:
    return [row.text for row in rows if row.is_displayed()]


def test_every_chart_is_drawn_and_the_console_is_silent(browser: webdriver.Chrome) -> None:
    for chart in browser.find_elements(By.CSS_SELECTOR, ".chart"):
        assert chart.size["width"] > 200
        assert ink(chart) > 0.005
    console = browser.execute("getLog", {"type": "browser"})["value"]
    assert not [entry for entry in console if entry["level"] == "SEVERE"]


def test_the_page_loads_nothing_its_contents_are_its_headings_and_every_image_says_what_it_is_and_shows_something(
    browser: webdriver.Chrome,
) -> None:
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    links = browser.find_elements(By.CSS_SELECTOR, "nav a")
    below = browser.find_elements(By.CSS_SELECTOR, "nav ~ section > h2")
    assert [link.text for link in links] == [heading.text for heading in below]
    for image in browser.find_elements(By.TAG_NAME, "img"):
        assert image.get_attribute("alt")
        assert ink(image) > 0.01


def test_every_claim_has_its_row_or_is_named_among_those_that_nothing_here_tests(browser: webdriver.Chrome) -> None:
    if not browser.find_elements(By.ID, "claims"):
        pytest.skip("this study tests none of them")
    rows = browser.find_elements(By.CSS_SELECTOR, "#claims tbody tr")
    tested = [row.find_element(By.TAG_NAME, "th").text for row in rows]
    notes = [note.text for note in browser.find_elements(By.CSS_SELECTOR, "#claims .note")]
    untested = [name for note in notes if "Nothing here tests" in note for name in re.findall(r"C\d+", note)]
    assert sorted([*tested, *untested]) == sorted(f"C{number}" for number in range(1, 20))
    assert not any("not tested" in row.text for row in rows)


def test_no_curve_of_a_chart_looks_like_another_and_no_point_is_cut_off(browser: webdriver.Chrome) -> None:
    for chart in browser.find_elements(By.CSS_SELECTOR, ".panels > div"):
        swatches = chart.find_elements(By.CSS_SELECTOR, ".legend svg")
        looks = [swatch.get_attribute("innerHTML") for swatch in swatches]
        assert len(set(looks)) == len(looks)
        cut_off = """
            const plot = arguments[0].querySelector(".background").getBoundingClientRect();
            return [...arguments[0].querySelectorAll(".mark-symbol path")].map((mark) => mark.getBoundingClientRect())
              .filter((box) => box.left < plot.left || box.right > plot.right
                || box.top < plot.top || box.bottom > plot.bottom).length"""
        assert browser.execute_script(cut_off, chart) == 0


# After those above, for it leaves the page as a phone has drawn it.
def test_a_phone_shows_it_without_scrolling_sideways_and_images_large_enough_to_read(browser: webdriver.Chrome) -> None:
    with on_a_phone(browser, 390):
        browser.refresh()
        wait_for_charts(browser)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
        for image in browser.find_elements(By.TAG_NAME, "img"):
            # The smallest letters have 6 of the 72 points of an inch.
            inches = float(image.get_attribute("naturalWidth") or 0) / 150
            assert image.size["width"] / inches * 6 / 72 > 8


def test_at_night_page_images_and_charts_are_dark_with_light_letters(curves: webdriver.Chrome) -> None:
    assert_dark(curves, "h1", "img", ".chart")


def test_a_table_is_filtered_by_its_words(curves: webdriver.Chrome) -> None:
    rows = curves.find_element(By.CSS_SELECTOR, "#tables table").find_elements(By.CSS_SELECTOR, "tbody tr")
    word = rows[-1].text.split()[0]
    expected = [row.text for row in rows if word.lower() in row.text.lower()]
    words = curves.find_element(By.CSS_SELECTOR, "#tables input.filter")
    words.send_keys(word)
    assert visible(rows) == expected
    words.send_keys(" nosuchword")
    assert not visible(rows)


def test_a_table_is_sorted_by_a_column_both_ways(curves: webdriver.Chrome) -> None:
    table = curves.find_element(By.CSS_SELECTOR, "#tables table")
    head = table.find_elements(By.CSS_SELECTOR, "th button")[0]

    def column() -> list[str]:
        return [cell.text for cell in table.find_elements(By.CSS_SELECTOR, "tbody tr td:first-child")]

    before = column()
    # As a reader of the browser's language sorts words.
    expected = curves.execute_script("return arguments[0].sort((a, b) => a.localeCompare(b))", list(before))
    head.click()
    assert column() == expected
    head.click()
    assert column() == expected[::-1]
    assert sorted(before) == sorted(expected)


def test_times_are_sorted_by_how_long_they_are(curves: webdriver.Chrome) -> None:
    times = ["2 days, 0:00:01", "2:10:00", "1 day, 2:03:04", "0:45:10"]
    expected = ["0:45:10", "2:10:00", "1 day, 2:03:04", "2 days, 0:00:01"]
    assert curves.execute_script("return arguments[0].sort(compare)", times) == expected


def test_the_legend_switches_a_curve_off_and_on_by_the_keyboard(curves: webdriver.Chrome) -> None:
    chart = curves.find_element(By.CSS_SELECTOR, ".panels > div")

    def faint(driver: webdriver.Chrome) -> int:
        lines = chart.find_elements(By.CSS_SELECTOR, ".mark-line path")
        return sum(line.get_attribute("opacity") == "0.05" for line in lines)

    entry = chart.find_element(By.CSS_SELECTOR, ".legend button")
    entry.send_keys(" ")
    assert entry.get_attribute("aria-pressed") == "false"
    WebDriverWait(curves, 60).until(lambda driver: faint(driver) == 1)
    entry.send_keys(" ")
    assert entry.get_attribute("aria-pressed") == "true"
    WebDriverWait(curves, 60).until_not(faint)
