"""One Chromium per test module, and sample pages behind a real socket.

The browser lives for a module and not for the session: while Playwright's loop runs in this thread, no other
test could use asyncio. ``QUEZHUO_SHOTS=DIR`` keeps a picture of every page for a human look.
"""

import copy
import json
import os
import socket
import threading
from pathlib import Path

import pytest
import uvicorn

from station.web.preview import Preview
from tests.required import go_without

CHROMIUM = "/usr/bin/chromium"
ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SAMPLES = Path(__file__).parents[1] / "station" / "web" / "samples"


@pytest.fixture(scope="session")
def launch():
    """Options of Playwright's ``launch`` for the browser of the system."""
    if not Path(CHROMIUM).exists():
        go_without("chromium", f"{CHROMIUM} is missing: apt-get install chromium")
    return {"executable_path": CHROMIUM, "args": ARGS}


@pytest.fixture(scope="module")
def browser(launch):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(**launch)
        yield chromium
        chromium.close()


class Site:
    """The preview on a port of its own, in a thread."""

    def __init__(self) -> None:
        self.preview = Preview(SAMPLES)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def posts(self):
        return self.preview.posts

    def start(self):
        config = uvicorn.Config(
            self.preview.app(),
            host="127.0.0.1",
            port=self.port,
            log_level="error",
            timeout_graceful_shutdown=0,
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        while not self.server.started:
            threading.Event().wait(0.01)

    def stop(self):
        self.preview.hang_up()
        self.server.should_exit = True
        self.thread.join(10)

    def sample(self, name, **changes):
        state = self.preview.sample(name)
        state.update(copy.deepcopy(changes))
        return state

    def publish(self, state):
        self.preview.publish_from_thread(state)


@pytest.fixture(scope="module")
def served():
    site = Site()
    yield site
    site.stop()


@pytest.fixture
def site(served):
    served.preview.reset()
    return served


@pytest.fixture
def new_page(browser):
    """Make an empty page; at the end none may have logged an error (a broken policy, a missing file)."""
    contexts, complaints = [], []

    def new(size, **options):
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, has_touch=True, **options
        )
        contexts.append(context)
        context.set_default_timeout(5000)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
        return page

    new.complaints = complaints
    yield new
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture
def open_page(new_page, site):
    """Open a sample page."""

    def open_(view, state=None, *, size=(1024, 600), lang="zh-Hans", theme=None, before=None, live=True):
        page = new_page(size, locale="zh-CN")
        if before:
            before(page)
        wish = f"&theme={theme}" if theme else ""
        name = f"&state={state}" if state else ""
        page.goto(f"{site.url}/{view}?lang={lang}{name}{wish}")
        if live:
            page.wait_for_selector("body[data-live]")
        return page

    open_.complaints = new_page.complaints
    return open_


@pytest.fixture
def shot(request):
    """Keep a picture of a page when ``QUEZHUO_SHOTS`` names a folder."""
    folder = os.environ.get("QUEZHUO_SHOTS")

    def shot_(page, name):
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=Path(folder) / f"{name}.png")

    return shot_


def body_of(post):
    """The JSON body of a recorded tap."""
    return json.loads(json.dumps(post[1]))
