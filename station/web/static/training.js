// Practising with a simulated machine: the server draws what changes, taps go to it as they are.

const live = document.getElementById('live');
const notice = document.getElementById('notice');
let hide;

function tell(text) {
  clearTimeout(hide);
  notice.textContent = text;
  notice.hidden = !text;
  if (text) hide = setTimeout(() => { notice.hidden = true; }, 6000);
}

async function post(path, body) {
  try {
    const answer = await fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(5000),
    });
    tell(answer.ok ? '' : (await answer.json()).error.message);
  } catch {
    tell(document.body.dataset.lost);
  }
}

// A button may be drawn anew while a finger lies on it, so taps are taken from the part that stays.
live.addEventListener('click', (event) => {
  const button = event.target.closest('button');
  if (!button) return;
  if (button.dataset.op) post('/do', { op: button.dataset.op });
  else post('/fault', { item: 'none' });
});

document.addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.target;
  const chosen = new FormData(form);
  post('/fault', { item: form.dataset.item, value: chosen.get('value') ?? '', motion: chosen.get('motion') ?? '' });
});

function draw(html) {
  const held = document.activeElement?.dataset?.op;
  live.innerHTML = html;
  if (held) live.querySelector(`[data-op="${held}"]`)?.focus();
  document.body.dataset.live = '1';
}

const stream = new EventSource(`/events?lang=${document.documentElement.lang}`);
stream.addEventListener('fragment', (event) => draw(event.data));
stream.addEventListener('error', () => tell(document.body.dataset.lost));
stream.addEventListener('open', () => tell(''));
