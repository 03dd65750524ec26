"""The HTML report in a browser: headless Chromium, where it is installed."""

from __future__ import annotations

import base64
import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest

from gtgbm import GTGBMClassifier, MultitaskGTGBMRegressor
from gtgbm.report import write_report

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(
    CHROMIUM is None or DRIVER is None,
    reason="needs a browser: install Debian's packages chromium and chromium-driver",
)

SCRIPT = "<script>alert(1)</script>"
WIDTHS = {"desktop": 1200, "phone": 390}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium: pip install selenium")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    # In containers there is no sandbox and little shared memory.
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30))
    X[:, 9] = X[:, 2]
    y = X[:, 2] + X[:, 5] * X[:, 7] - X[:, 11] > 0
    names = [f"a_rather_long_name_of_column_{j}" for j in range(30)]
    names[11] = SCRIPT
    folder = tmp_path_factory.mktemp("reports")
    single = GTGBMClassifier(penalty=0.002, n_estimators=20, random_state=0).fit(X, y)
    tasks = np.arange(400) % 3
    several = MultitaskGTGBMRegressor(n_estimators=10, random_state=0).fit(
        X, X[:, 2] + X[:, tasks[0]], task=tasks
    )
    every = X.sum(axis=1) > 0
    long = GTGBMClassifier(penalty=0.0, n_estimators=40, search="exhaustive").fit(X, every)
    return {
        "single": write_report(single, X, y, folder / "single.html", names=names, train={"X": X, "y": y}),
        "tasks": write_report(several, X, X[:, 2], folder / "tasks.html", task=tasks),
        "long": write_report(long, X, every, folder / "long.html"),
    }


def show(browser: Any, page: Path, width: int, scheme: str) -> None:
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    # A page that scrolls smoothly is not yet where a click is meant to go.
    wishes = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    media = {"features": [{"name": name, "value": value} for name, value in wishes.items()]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.get(page.as_uri())


def screenshot(browser: Any) -> Any:
    """Colours of the whole page, shape (height, width, 3), from 0 to 1."""
    width, height = browser.execute_script(
        "const page = document.documentElement; return [page.clientWidth, page.scrollHeight]"
    )
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    return matplotlib.image.imread(io.BytesIO(base64.b64decode(shot["data"])), format="png")[:, :, :3]


@pytest.mark.parametrize("page", ["single", "tasks"])
@pytest.mark.parametrize("device", list(WIDTHS))
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_renders(browser: Any, pages: dict[str, Path], page: str, device: str, scheme: str) -> None:
    show(browser, pages[page], WIDTHS[device], scheme)
    assert browser.get_log("browser") == [], "the console must stay empty"
    overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(overflow) == 0, "only tables and wide pictures scroll sideways"
    colours = screenshot(browser)
    brightness = np.median(colours)
    assert (brightness < 0.3) if scheme == "dark" else (brightness > 0.8)
    # Every screenful has something to see: ground and text differ.
    for begin in range(0, colours.shape[0] - 400, 400):
        assert np.ptp(colours[begin : begin + 400].mean(axis=2)) > 0.4, f"blank from {begin} on"


def test_pictures_follow_the_colours_of_the_page(browser: Any, pages: dict[str, Path]) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        show(browser, pages["single"], 1200, scheme)
        colours[scheme] = browser.execute_script(
            "const style = (query) => getComputedStyle(document.querySelector(query));"
            "return [style('svg text').fill, style('body').color]"
        )
        assert len(set(colours[scheme])) == 1, "labels have the colour of the text"
    assert colours["light"] != colours["dark"]


def test_names_are_shown_and_not_run(browser: Any, pages: dict[str, Path]) -> None:
    show(browser, pages["single"], 1200, "light")
    assert SCRIPT in column(browser, 0)
    assert browser.execute_script("return document.scripts.length") == 1


def column(browser: Any, number: int) -> list[str]:
    cells: list[str] = browser.execute_script(
        "const rows = [...document.querySelectorAll('#selected tbody tr')];"
        "return rows.map(row => row.cells[arguments[0]].textContent)",
        number,
    )
    return [cell.strip() for cell in cells]


def visible_names(browser: Any) -> list[str]:
    names: list[str] = browser.execute_script(
        "return [...document.querySelectorAll('#selected tbody tr')].filter(row => row.offsetHeight)"
        ".map(row => row.cells[0].textContent.trim())"
    )
    return names


def test_long_tables_have_pages_of_twenty_rows(browser: Any, pages: dict[str, Path]) -> None:
    from selenium.webdriver.common.by import By

    show(browser, pages["long"], 1200, "light")
    names = column(browser, 0)
    previous, following = browser.find_elements(By.CSS_SELECTOR, "#selected .pager button")
    range_shown = browser.find_element(By.CSS_SELECTOR, "#selected .pager .range")
    assert len(names) > 20
    assert visible_names(browser) == names[:20]
    assert range_shown.text == f"Rows 1 to 20 of {len(names)}"
    assert not previous.is_enabled()
    following.click()
    assert visible_names(browser) == names[20:]
    assert range_shown.text == f"Rows 21 to {len(names)} of {len(names)}"
    assert not following.is_enabled()
    browser.find_elements(By.CSS_SELECTOR, "#selected thead button")[5].click()
    assert visible_names(browser) == column(browser, 0)[:20], "a new order begins with its first page"
    browser.find_element(By.CSS_SELECTOR, "#all-selected").click()
    assert visible_names(browser) == column(browser, 0)
    assert range_shown.text == f"All {len(names)} rows"


def test_phones_see_the_most_important_columns(browser: Any, pages: dict[str, Path]) -> None:
    show(browser, pages["single"], 390, "light")
    seen = browser.execute_script(
        "const right = document.querySelector('#selected .scroll').getBoundingClientRect().right;"
        "return [...document.querySelectorAll('#selected thead th')]"
        ".filter(head => head.getBoundingClientRect().right <= right).map(head => head.textContent.trim())"
    )
    assert {"Feature", "Adds", "Importance"} <= set(seen)


def test_phones_see_metrics_whole_and_intervals_in_one_line(browser: Any, pages: dict[str, Path]) -> None:
    show(browser, pages["single"], 390, "light")
    hidden, lines = browser.execute_script(
        "const box = document.querySelector('#quality .scroll');"
        "const cells = [...box.querySelectorAll('.interval')];"
        "const words = document.createRange(); words.selectNodeContents(cells[0]);"
        "return [box.scrollWidth - box.clientWidth, words.getClientRects().length]"
    )
    assert hidden == 0
    assert lines == 1


def test_print_has_light_colours_and_nothing_overlaps(browser: Any, pages: dict[str, Path]) -> None:
    show(browser, pages["long"], 720, "dark")
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]},
    )
    assert browser.execute_script("return getComputedStyle(document.body).color") == "rgb(28, 31, 36)"
    overlaps = browser.execute_script(
        "const boxes = [...document.querySelectorAll('table, figure')].map(one => [one.tagName, "
        "one.getBoundingClientRect()]);"
        "return boxes.flatMap(([a, x], k) => boxes.slice(k + 1).filter(([b, y]) => x.left < y.right - 1 && "
        "y.left < x.right - 1 && x.top < y.bottom - 1 && y.top < x.bottom - 1).map(([b]) => a + b))"
    )
    assert overlaps == []
    heights, lefts = browser.execute_script(
        "const figures = [...document.querySelectorAll('#adds figure')];"
        "const boxes = figures.map(one => one.getBoundingClientRect());"
        "return [boxes.map(box => box.height), boxes.map(box => Math.round(box.left))]"
    )
    assert len(set(lefts)) == 2, "pictures stand side by side"
    assert max(heights) < 900, "each of them fits a page"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_wide_screens_have_two_columns_and_phones_one(browser: Any, pages: dict[str, Path]) -> None:
    for width, expected in ((1300, 2), (390, 1)):
        show(browser, pages["single"], width, "light")
        lefts = browser.execute_script(
            "return [...document.querySelectorAll('#quality figure')]"
            ".map(one => Math.round(one.getBoundingClientRect().left))"
        )
        assert len(set(lefts)) == expected


def test_rows_trained_on_are_said_in_red(browser: Any, pages: dict[str, Path]) -> None:
    for scheme in ("light", "dark"):
        show(browser, pages["single"], 1200, scheme)
        colour = browser.execute_script("return getComputedStyle(document.querySelector('.banner')).color")
        red, green, blue = (int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))
        assert red > 1.5 * max(green, blue)


def sort_state(browser: Any) -> list[str]:
    states: list[str] = browser.execute_script(
        "const heads = [...document.querySelectorAll('#selected thead th')];"
        "return heads.map(head => head.getAttribute('aria-sort'))"
    )
    return states


def test_tables_sort_by_click_and_keyboard(browser: Any, pages: dict[str, Path]) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    show(browser, pages["single"], 1200, "light")
    buttons = browser.find_elements(By.CSS_SELECTOR, "#selected thead button")
    assert set(sort_state(browser)) == {"none"}
    before, gains = column(browser, 0), column(browser, 4)
    assert len(before) > 3
    buttons[4].click()
    assert sort_state(browser)[4] == "descending"
    assert column(browser, 4) == sorted(gains, key=float, reverse=True)
    assert sorted(column(browser, 0)) == sorted(before)
    buttons[4].click()
    assert sort_state(browser)[4] == "ascending"
    assert column(browser, 4) == sorted(gains, key=float)
    buttons[1].send_keys(Keys.ENTER)
    buttons[1].send_keys(Keys.SPACE)
    assert sort_state(browser).count("none") == len(buttons) - 1
    assert column(browser, 0) == before, "the order of purchase again"
    buttons[0].click()
    numbered = [f"a_rather_long_name_of_column_{j}" for j in range(30)]
    assert column(browser, 0) == [SCRIPT, *(name for name in numbered if name in before)]
