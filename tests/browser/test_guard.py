"""A real browser with a page of another site open: that page changes nothing of ours, and reads nothing."""

import socket
from contextlib import contextmanager

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from station.guarding import Guard, Traffic, names_of
from station.web.preview import Preview
from tests.browser.conftest import ARGS, PATIENCE_MS, SAMPLES, serve
from tests.required import go_without

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ATTACKS = {
    "text that holds JSON": "await fetch(to, {method: 'POST', mode: 'no-cors', body: '{}'})",
    "JSON": "await fetch(to, {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{}'})",
    "a form": "await fetch(to, {method: 'POST', mode: 'no-cors', body: new URLSearchParams({a: '{}'})})",
    "a beacon": "navigator.sendBeacon(to, new Blob(['{}'], {type: 'text/plain'})); await pause(300)",
    "a submitted form": """
        const form = document.createElement('form');
        const frame = document.createElement('iframe');
        frame.name = 'hole';
        document.body.append(frame, form);
        Object.assign(form, {method: 'post', action: to, enctype: 'text/plain', target: 'hole'});
        form.innerHTML = '<input name=\\'{"a":"\\' value=\\'"}\\'>';
        form.submit();
        await pause(500)""",
}
EVIL = HTMLResponse("<!doctype html><link rel=icon href=data:,><title>evil</title><body>free tiles")


@contextmanager
def serving(app, host):
    """Serve an application at an address; gives its port."""
    listener = socket.create_server((host, 0))
    port = listener.getsockname()[1]
    server, thread = serve(app, listener)
    try:
        yield port
    finally:
        server.should_exit = True
        thread.join(30)


def own_address():
    """An address of this computer that is not loopback; None without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.99", 9))  # nothing is sent
        except OSError:
            return None
        return probe.getsockname()[0]


@pytest.fixture(scope="module")
def evil():
    async def page(_):
        return EVIL

    with serving(Starlette(routes=[Route("/", page)]), "127.0.0.1") as port:
        yield f"http://localhost:{port}/"


@pytest.fixture(scope="module")
def renamed(launch):
    """A browser for which a stranger's name leads to this computer."""
    from playwright.sync_api import sync_playwright

    rules = "--host-resolver-rules=MAP evil.example 127.0.0.1"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(**{**launch, "args": [*ARGS, rules]})
        yield chromium
        chromium.close()


@pytest.fixture(params=["loopback", "network"])
def ours(request):
    """The pages behind their guard, at loopback or at an address of the network: (preview, traffic, URL)."""
    host = "127.0.0.1" if request.param == "loopback" else own_address()
    if host is None:
        go_without("network", "this computer has no address but loopback")
    preview, traffic = Preview(SAMPLES), Traffic()
    preview.state = preview.sample("verdict_win")
    with serving(Guard(preview.app(), names_of(host), traffic), host) as port:
        yield preview, traffic, f"http://{host}:{port}"


def ask(page, script, url):
    """Run an attack in a page; what it throws does not count, what arrives does."""
    page.evaluate(
        "async ([to]) => { const pause = (ms) => new Promise((done) => setTimeout(done, ms));"
        f"try {{ {script} }} catch {{ /* refused */ }} }}",
        [url],
    )


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_page_of_another_site_changes_nothing(renamed, ours, evil, attack):
    preview, traffic, url = ours
    page = renamed.new_page()
    page.goto(evil)
    ask(page, ATTACKS[attack], f"{url}/api/confirm")
    for _ in range(PATIENCE_MS // 10):  # a beacon and a form are sent when the browser finds the time
        if preview.posts or traffic.refused.total():
            break
        page.wait_for_timeout(10)
    page.close()
    assert preview.posts == []
    assert traffic.refused.total() >= 1


def test_a_page_of_another_site_reads_nothing_and_shows_nothing_of_ours(renamed, ours, evil):
    _, _, url = ours
    page = renamed.new_page()
    page.goto(evil)
    told = page.evaluate(
        """async (url) => {
            const text = await fetch(url + '/referee').then((a) => a.text()).catch(() => 'refused');
            const image = await new Promise((done) => {
                const img = new Image();
                img.onload = () => done('shown');
                img.onerror = () => done('refused');
                img.src = url + '/static/icon.svg';
            });
            return [text, image];
        }""",
        url,
    )
    page.set_content(f'<iframe src="{url}/referee"></iframe>')
    page.wait_for_timeout(500)
    framed = page.frames[1].evaluate("document.querySelector('#view') !== null")
    page.close()
    assert told == ["refused", "refused"]
    assert framed is False


@pytest.mark.parametrize("ours", ["loopback"], indirect=True)
def test_a_name_that_was_bent_to_lead_here_opens_no_page(renamed, ours):
    preview, traffic, url = ours
    page = renamed.new_page()
    answer = page.goto(url.replace("127.0.0.1", "evil.example") + "/referee")
    assert answer.status == 403
    ask(page, ATTACKS["JSON"], "/api/confirm")
    page.close()
    assert preview.posts == []
    assert traffic.refused["foreign_host"] >= 2


def test_our_own_page_is_heard(renamed, ours):
    preview, traffic, url = ours
    page = renamed.new_page()
    page.goto(f"{url}/referee")
    ask(page, ATTACKS["JSON"], "/api/confirm")
    page.close()
    assert [post[0] for post in preview.posts] == ["confirm"]
    assert traffic.refused.total() == 0
