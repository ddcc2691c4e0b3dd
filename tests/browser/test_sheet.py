"""The result sheet in a browser: what is printed fits on A4, without a script and without a scroll bar."""

from __future__ import annotations

import socket

import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from station import messages as m
from station.log import Log
from station.web.pages import static_mount
from station.web.sheet_page import sheet_response
from tests.browser.conftest import serve
from tests.station.test_sheet import evening

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A server with the sheet of one evening and of a long one."""
    logs = {}
    for name, more in (("short", []), ("long", evening()[1:-1] * 9)):
        with Log.open(tmp_path_factory.mktemp(name) / "T1.db", signer=b"s" * 32) as log:
            bodies = [*evening()[:-1], *more, evening()[-1]]
            log.append([m.encode(body) for body in bodies], 1_700_000_000_000, checkpoint="session.closed")
            logs[name] = log.entries_of(log.log_id)

    async def sheet(request):
        return sheet_response(request, logs[request.path_params["name"]], "T1.db")

    app = Starlette(routes=[Route("/sheet/{name}", sheet), static_mount()])
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    server, thread = serve(app, listener)
    yield f"http://127.0.0.1:{port}/sheet"
    server.should_exit = True
    thread.join(30)


@pytest.mark.parametrize("name", ["short", "long"])
@pytest.mark.parametrize("lang", ["zh-Hans", "zh-Hant", "en"])
def test_the_sheet_fits_the_width_of_a4_and_of_a_phone(new_page, address, shot, lang, name):
    for size, label in (((794, 1123), "a4"), ((390, 800), "phone")):
        page = new_page(size)
        page.goto(f"{address}/{name}?lang={lang}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), label
        assert page.locator(".seal svg").bounding_box()["width"] > 100
        shot(page, f"sheet-{name}-{lang}-{label}")


def test_it_prints_as_a4_and_a_short_session_on_one_page(new_page, address):
    page = new_page((794, 1123))
    page.goto(f"{address}/short?lang=zh-Hans")
    pdf = page.pdf(prefer_css_page_size=True, print_background=True)
    assert pdf.count(b"/Type /Page\n") == 1
    assert b"/MediaBox [0 0 594.95" in pdf or b"/MediaBox [0 0 595" in pdf
