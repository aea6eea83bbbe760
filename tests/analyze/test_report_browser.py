"""The report in a browser: it opens, complains of nothing, filters, sorts, prints, and can be seen."""

from __future__ import annotations

import asyncio
import io
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import chromium
import numpy as np
import pytest
from cellar import Cellar
from matplotlib import image

from analyze.report import write_html

pytestmark = pytest.mark.skipif(chromium.binary() is None, reason="no Chromium on this machine")

MODELS = (("Sommelier 7B", "simulated", 0.0), ("Taster <b>XL</b>", "api", 1.0))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    study, specifications = Cellar(models=MODELS, wines=16).analysed(folder, inference=True)
    with study:
        return write_html(study, specifications, folder / "report")


@pytest.fixture
async def page(written: Path) -> AsyncIterator[chromium.Page]:
    async with chromium.page() as opened:
        await opened.open(written)
        yield opened


VISIBLE = (
    '(t) => [...document.querySelectorAll(`section.audit:not([hidden]) table[data-t="${t}"] tbody tr`)]'
    ".filter(r => r.offsetParent !== null)"
)


async def test_it_opens_without_complaint_and_asks_nothing_of_any_network(
    page: chromium.Page, written: Path
) -> None:
    assert await page.evaluate("document.title") == "Does the glass change the wine? Scores of wines"
    assert await page.evaluate("document.documentElement.classList.contains('scripted')")
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith("data:")] == [written.as_uri()]


async def test_it_can_be_seen(page: chromium.Page) -> None:
    pixels = image.imread(io.BytesIO(await page.screenshot()))[:, :, :3]
    dark = (pixels.mean(axis=2) < 0.5).mean()
    assert 0.005 < dark < 0.5, f"{dark:.1%} of the screen is dark"
    assert len(np.unique((pixels * 15).astype(int).reshape(-1, 3), axis=0)) > 20


async def test_the_filter_leaves_what_was_asked_for(page: chromium.Page) -> None:
    rows = f"({VISIBLE})('estimates')"
    assert await page.evaluate(f"{rows}.length") == 6
    write = (
        "(text) => { const f = document.querySelector('section.audit:not([hidden]) table[data-t=estimates]')"
        ".closest('figure').querySelector('.filter'); f.value = text; f.dispatchEvent(new Event('input')); }"
    )
    await page.evaluate(f"({write})('塑料')")
    assert await page.evaluate(f"{rows}.map(r => r.dataset.value)") == ["塑料"]
    shown = await page.evaluate(
        "document.querySelector('section.audit:not([hidden]) table[data-t=estimates]').closest('figure')"
        ".querySelector('.shown').textContent"
    )
    assert shown == "1 of 6 rows"
    await page.evaluate(f"({write})('nothing like it')")
    assert await page.evaluate(f"{rows}.length") == 0
    await page.evaluate(f"({write})('')")
    assert await page.evaluate(f"{rows}.length") == 6
    assert page.complaints == []


async def test_a_threshold_leaves_the_values_below_it(page: chromium.Page) -> None:
    left = await page.evaluate(
        "(() => { const t = document.querySelector('section.audit:not([hidden]) table[data-t=estimates]');"
        "const s = t.closest('figure').querySelector('.below'); s.value = '0.05';"
        "s.dispatchEvent(new Event('input'));"
        "return [...t.tBodies[0].rows].filter(r => !r.hidden).map(r => Number(r.dataset.p)); })()"
    )
    assert left
    assert all(p < 0.05 for p in left)


@pytest.mark.parametrize("heading", ["p, main", "Changed", "Effect, points"])
async def test_a_heading_sorts_by_the_whole_figure(page: chromium.Page, heading: str) -> None:
    sort = (
        "(name) => { const t = document.querySelector('section.audit:not([hidden]) table[data-t=estimates]');"
        "const th = [...t.tHead.querySelectorAll('th')].find(h => h.textContent === name);"
        "th.querySelector('[role=button]').click(); const i = th.cellIndex;"
        "return [...t.tBodies[0].rows].map(r => Number(r.cells[i].dataset.v ?? r.cells[i].textContent)); }"
    )
    up = await page.evaluate(f"({sort})({heading!r})")
    assert up == sorted(up)
    assert len(set(up)) > 1
    down = await page.evaluate(f"({sort})({heading!r})")
    assert down == sorted(up, reverse=True)


async def test_the_first_minute_fits_on_one_screen(written: Path) -> None:
    bottom = "document.getElementById('minute').getBoundingClientRect().bottom"
    async with chromium.page() as opened:
        await opened.open(written, width=1300, height=900)
        assert await opened.evaluate(bottom) <= 900


@pytest.mark.parametrize("width", [400, 700, 1300])
async def test_nothing_but_tables_and_figures_is_wider_than_the_screen(written: Path, width: int) -> None:
    cut = (
        "[...document.querySelectorAll('p, li, dd, dt, h1, h2, h3, figcaption, pre')]"
        ".filter(e => !e.closest('.scroll') && e.offsetParent !== null)"
        ".filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)"
        ".map(e => e.textContent.slice(0, 60))"
    )
    async with chromium.page() as opened:
        await opened.open(written, width=width, height=900)
        assert await opened.evaluate("document.documentElement.scrollWidth") <= width
        assert await opened.evaluate(cut) == []


async def test_the_selector_shows_one_model_or_all(page: chromium.Page) -> None:
    visible = (
        "[...document.querySelectorAll('section.audit')].filter(s => s.offsetParent !== null).map(s => s.id)"
    )
    assert await page.evaluate(visible) == ["m1"]
    choose = (
        "(v) => { const s = document.getElementById('selector'); s.value = v;"
        "s.dispatchEvent(new Event('input')); }"
    )
    await page.evaluate(f"({choose})('m2')")
    assert await page.evaluate(visible) == ["m2"]
    await page.evaluate(f"({choose})('all')")
    assert await page.evaluate(visible) == ["m1", "m2"]
    await page.evaluate("location.hash = '#m2-labels'; new Promise(done => setTimeout(done, 100))")
    assert await page.evaluate(visible) == ["m1", "m2"]


async def test_every_printed_page_carries_the_notice(page: chromium.Page, tmp_path: Path) -> None:
    pages = await printed(page, tmp_path)
    assert len(pages) > 3
    assert all("Simulated: a scripted taster" in one for one in pages)


async def test_every_model_is_printed_whichever_is_chosen_on_the_screen(
    page: chromium.Page, tmp_path: Path
) -> None:
    shown = "[...document.querySelectorAll('section.audit')].filter(s => !s.hidden).map(s => s.id)"
    assert await page.evaluate(shown) == ["m1"]
    text = "".join(await printed(page, tmp_path))
    assert text.count("How much of it would withstand") + text.count("Label by label") >= 2
    for name, _, _ in MODELS:
        assert f"\n{name}\n" in "\n".join(line.strip() for line in text.splitlines()), name
    assert await page.evaluate(shown) == ["m1"], "the choice is not put back after printing"


async def printed(page: chromium.Page, folder: Path) -> list[str]:
    """The text of the pages of a print."""
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext, which reads printed pages, is not on this machine")
    path = folder / "report.pdf"
    path.write_bytes(await page.pdf())
    reading = await asyncio.create_subprocess_exec(
        "pdftotext", "-layout", str(path), "-", stdout=asyncio.subprocess.PIPE
    )
    text = (await asyncio.wait_for(reading.communicate(), 60))[0].decode()
    return [one for one in text.split("\f") if one.strip()]
