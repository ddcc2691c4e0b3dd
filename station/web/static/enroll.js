// Capturing the table's tiles: lay the row that is asked for, take a picture, read what it lacks. The server decides.

const $ = (id) => document.getElementById(id);
let busy = false;

async function post(path, body = {}) {
  if (busy) return null;
  busy = true;
  say([]);
  try {
    const answer = await fetch(`/enroll/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(60000),
    });
    const told = await answer.json();
    if (answer.ok) return told;
    say([told.error.message], true);
  } catch {
    say([document.body.dataset.lost], true);
  } finally {
    busy = false;
  }
  return null;
}

function say(lines, bad = false) {
  $('said').replaceChildren(...lines.map((line) => {
    const item = document.createElement('li');
    item.textContent = line;
    return item;
  }));
  $('said').classList.toggle('bad', bad);
}

// Tiles as on the other pages, behind a line of text where there is one.
function draw(id, kinds, ...before) {
  $(id).replaceChildren(...before, ...kinds.map((kind) => {
    const tile = document.createElement('span');
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
    svg.setAttribute('viewBox', '0 0 60 80');
    use.setAttribute('href', `#t-${kind}`);
    svg.append(use);
    tile.className = 'tile mini';
    tile.append(svg);
    return tile;
  }));
}

// What the server says of the capture: the row to lay, what is missing, whether all is there.
function show(told) {
  $('start').hidden = true;
  $('row').hidden = false;
  const whole = told.missing.length === 0;
  $('count').textContent = told.row ? `${$('count').dataset.row} ${told.number} / ${told.of}` : '';
  $('how').textContent = told.row ? told.row.how : '';
  draw('tiles', told.row ? told.row.kinds : []);
  for (const id of ['look', 'skip']) $(id).hidden = !told.row;
  $('confirm').hidden = !told.confirm;
  const line = document.createElement('p');
  line.textContent = whole ? $('missing').dataset.none : $('missing').dataset.missing;
  draw('missing', told.missing, line);
  $('save').hidden = !whole;
  say(told.taken ? [$('said').dataset.taken, ...told.said] : told.said, told.taken === false);
}

async function step(path, body) {
  const told = await post(path, body);
  if (!told) return;
  show(told);
  if (path === 'look') {
    $('nothing').hidden = true;
    $('shot').hidden = false;
    $('shot').src = `/enroll/row.jpg?at=${Date.now()}`;
  }
}

function begin(fresh) {
  step('begin', { name: $('name').value.trim(), side: Number($('side').value), fresh });
}

$('begin').addEventListener('click', () => begin(false));
$('fresh').addEventListener('click', () => begin(true));
$('look').addEventListener('click', () => step('look', { confirmed: false }));
$('confirm').addEventListener('click', () => step('look', { confirmed: true }));
$('skip').addEventListener('click', () => step('skip'));
$('back').addEventListener('click', () => step('back'));
$('save').addEventListener('click', async () => {
  const told = await post('save');
  if (!told) return;
  $('row').hidden = true;
  $('start').hidden = false;
  say([`${$('said').dataset.saved} ${told.saved}`, ...told.said]);
});
