// Teaching the camera: take a picture, say where the corners are, look at the zones, save. The server decides.

const $ = (id) => document.getElementById(id);
const taps = []; // corners tapped so far, in pixels of the frame
let busy = false;
let shown = ''; // 'frame' while corners may be tapped, 'zones' while the result is looked at

async function post(path, body) {
  if (busy) return null;
  busy = true;
  say('');
  try {
    const answer = await fetch(`/calibrate/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30000),
    });
    const told = await answer.json();
    if (answer.ok) return told;
    say(told.error.message, true);
  } catch {
    say(document.body.dataset.lost, true);
  } finally {
    busy = false;
  }
  return null;
}

function say(text, bad = false) {
  $('said').textContent = text;
  $('said').classList.toggle('bad', bad);
}

function show(name) {
  shown = name;
  $('nothing').hidden = true;
  $('shot').hidden = false;
  $('shot').src = `/calibrate/${name}.jpg?at=${Date.now()}`;
  $('teach').hidden = name === 'zones';
  $('result').hidden = name !== 'zones';
}

function begin() {
  taps.length = 0;
  mark();
}

// Rings around what was tapped, laid over the picture as large as it is drawn.
function mark() {
  const [shot, marks] = [$('shot'), $('marks')];
  marks.toggleAttribute('hidden', shown !== 'frame' || !taps.length); // an SVG element has no .hidden
  marks.setAttribute('width', shot.clientWidth);
  marks.setAttribute('height', shot.clientHeight);
  marks.setAttribute('viewBox', `0 0 ${shot.clientWidth} ${shot.clientHeight}`);
  const scale = shot.clientWidth / (shot.naturalWidth || 1);
  marks.replaceChildren(...taps.flatMap(([x, y], k) => {
    const ring = document.createElementNS('http://www.w3.org/2000/svg', 'circle');
    ring.setAttribute('cx', x * scale);
    ring.setAttribute('cy', y * scale);
    ring.setAttribute('r', 9);
    const text = document.createElementNS('http://www.w3.org/2000/svg', 'text');
    text.setAttribute('x', x * scale + 12);
    text.setAttribute('y', y * scale - 10);
    text.textContent = k + 1;
    return [ring, text];
  }));
  [...$('corners').children].forEach((line, k) => {
    line.className = k < taps.length ? 'done' : k === taps.length ? 'now' : '';
  });
}

async function attempt(corners) {
  const height = Number($('height').value) || null;
  const told = await post('try', { taps: corners, cloth: Number($('cloth').value), height });
  if (!told) return;
  const figures = $('figures');
  const off = told.error_mm === null ? '' : `${figures.dataset.error} ${told.error_mm} · `;
  figures.textContent = `${off}${figures.dataset.height} ${told.height_cm}`;
  show('zones');
  mark();
}

$('look').addEventListener('click', async () => {
  if (!await post('look', {})) return;
  show('frame');
  begin();
});

$('cards').addEventListener('click', () => attempt(null));

for (const id of ['again', 'back']) {
  $(id).addEventListener('click', () => {
    show('frame');
    begin();
  });
}

$('shot').addEventListener('click', (event) => {
  if (shown !== 'frame' || taps.length > 3 || busy) return;
  const scale = $('shot').naturalWidth / $('shot').clientWidth;
  taps.push([event.offsetX * scale, event.offsetY * scale]);
  mark();
  if (taps.length === 4) attempt(taps);
});

$('save').addEventListener('click', async () => {
  const told = await post('save', {});
  if (!told) return;
  $('result').hidden = true;
  say(told.watched ? $('said').dataset.saved : `${$('said').dataset.saved} ${$('said').dataset.blind}`, !told.watched);
});

$('shot').addEventListener('load', mark);
window.addEventListener('resize', mark);
