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
from playwright.sync_api import expect, sync_playwright

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
# What is awaited shows at once on an idle machine; on a busy one Chromium alone may take seconds.
PATIENCE_MS = 30_000
SAMPLES = Path(__file__).parents[1] / "station" / "web" / "samples"


@pytest.fixture(scope="session")
def launch():
    """Options of Playwright's ``launch`` for the browser of the system."""
    if not Path(CHROMIUM).exists():
        go_without("chromium", f"{CHROMIUM} is missing: apt-get install chromium")
    return {"executable_path": CHROMIUM, "args": ARGS}


@pytest.fixture(scope="module")
def browser(launch):
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(**launch)
        expect.set_options(timeout=PATIENCE_MS)
        yield chromium
        chromium.close()


def serve(app, listener):
    """Serve an application on a socket that listens already, so that nobody takes its port in between."""
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=0))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server ended before it served"
        threading.Event().wait(0.01)
    return server, thread


class Site:
    """The preview on a port of its own, in a thread."""

    def __init__(self) -> None:
        self.preview = Preview(SAMPLES)
        self.port = 0
        self.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def posts(self):
        return self.preview.posts

    def start(self):
        listener = socket.create_server(("127.0.0.1", self.port))
        self.port = listener.getsockname()[1]
        self.server, self.thread = serve(self.preview.app(), listener)

    def stop(self):
        self.preview.hang_up()
        self.server.should_exit = True
        self.thread.join(30)

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
        context.set_default_timeout(PATIENCE_MS)
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
