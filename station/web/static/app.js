// Quezhuo screens: one EventSource down, plain POST up. No dependency, no build step.
//
// The server renders everything. This module swaps rendered fragments in, keeps an open sheet open over a
// swap, and sends taps. It holds no copy of the table's state, so a page can never disagree with itself.

import { HandEditor } from './hand.js';

const $ = (selector, root = document) => root.querySelector(selector);
const view = () => $('#view');
const words = JSON.parse(document.body.dataset.errors || '{}');
const SILENCE_MS = 12000; // the server beats every 5 s; two missed beats and a bit
const RETRY_MS = 9000; // before the banner: a stream that only seems dead is renewed without a word
const PAGE_MS = 12000; // a hall with more tables than fit is shown page by page

let open = null; // {name, i, place, fact, has}: the sheet lying over the page
let busy = false; // one tap at a time: a second one waits for the answer of the first
let held = null; // {button, timer}: a button that must be held
let later = null; // a fragment that came in while a button was held
let heard = Date.now(); // when the stream last gave a sign of life
let source = null;
let tried = 0;
const editor = new HandEditor();

// ---- fragments down -------------------------------------------------------------------------------------

function swap(html) {
  if (held) { // replacing a button under a finger would lose the hold
    later = html;
    return;
  }
  const fresh = new DOMParser().parseFromString(html, 'text/html').getElementById('view');
  if (!fresh) return;
  const choices = [...document.querySelectorAll('.sheet:not([hidden]) input, .scene input')]
    .map((input) => [input.closest('.sheet')?.id || 'view', input.name, input.value, input.type, input.checked]);
  view().replaceWith(fresh);
  for (const [root, name, value, type, checked] of choices) restore(document.getElementById(root), name, value, type, checked);
  if (open) show(open, true);
  tick();
  view().dispatchEvent(new Event('swapped', { bubbles: true }));
}

// What a finger had chosen stays chosen in the fresh page.
function restore(root, name, value, type, checked) {
  if (type === 'hidden') {
    const input = root?.querySelector(`input[type="hidden"][name="${name}"]`);
    if (input) step(input, value);
    return;
  }
  const again = root?.querySelector(`input[name="${name}"][value="${value}"]`);
  if (again && (checked || type === 'checkbox')) again.checked = checked;
}

// The page itself is the snapshot: no second route that could drift from it.
async function refresh() {
  try {
    const answer = await fetch(location.href, { cache: 'no-store' });
    if (answer.ok) swap(await answer.text());
  } catch { /* the stream will bring it */ }
}

// After an accepted tap the old page must not be tapped again: wait for the page that shows its effect.
async function settled(rev) {
  const there = () => !rev || Number(view().dataset.rev) >= rev;
  for (let waited = 0; !there() && waited < 15; waited += 1) await pause(100);
  if (!there()) await refresh();
}

function alive() {
  heard = Date.now();
  watch();
}

function connect() {
  tried = Date.now();
  source?.close();
  source = new EventSource(`/events?view=${view().dataset.view}&lang=${document.documentElement.lang}`);
  source.addEventListener('fragment', (event) => {
    alive();
    swap(event.data);
    document.body.dataset.live = ''; // the first snapshot is in: what is shown is the state of now
  });
  source.addEventListener('beat', alive);
  source.addEventListener('open', alive);
}

// EventSource reconnects by itself after a cut, but gives up on an error page and cannot see a dead peer.
function watch() {
  const silent = Date.now() - heard > SILENCE_MS;
  $('#banner').hidden = !silent;
  document.body.classList.toggle('lost', silent);
  const dead = Date.now() - heard > RETRY_MS || source.readyState === EventSource.CLOSED;
  if (dead && Date.now() - tried > 3000) connect();
}

// ---- taps up --------------------------------------------------------------------------------------------

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

function newKey() { // randomUUID needs a secure context, which a hall network by plain address is not
  if (crypto.randomUUID) return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('');
}

async function send(action, body) {
  const request = {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Idempotency-Key': newKey(),
      'If-Match': view().dataset.rev || '0',
    },
    body: JSON.stringify(body),
  };
  for (let attempt = 0; attempt < 3; attempt += 1) { // same key every time: booked once however often heard
    try {
      return await fetch(`/api/${action}`, { ...request, signal: AbortSignal.timeout(8000) });
    } catch {
      await pause(600);
    }
  }
  return null;
}

async function post(action, body, button) {
  if (busy) return;
  busy = true;
  document.body.classList.add('busy');
  if (button) button.disabled = true;
  try {
    const answer = await send(action, body);
    const told = answer ? await answer.json().catch(() => ({})) : {};
    if (answer?.ok) {
      hide();
      await settled(told.rev);
    } else {
      const error = told.error || { code: answer ? String(answer.status) : 'no_answer' };
      notice(words[error.code] || error.message || error.code);
      if (!answer || answer.status === 409) {
        hide();
        await refresh();
      }
    }
  } finally {
    busy = false;
    document.body.classList.remove('busy');
    if (button) button.disabled = false;
  }
}

// Fields of the form around a button, what the chosen fields bring along, then the button's own data-body.
// "facts.da.shou" nests, "dice[]1" makes a list, "_pay" only brings its data-body, data-only is all there is.
function bodyOf(button) {
  if (button.dataset.only) return JSON.parse(button.dataset.only);
  const body = {};
  const form = button.closest('form');
  for (const [name, text] of form ? [...new FormData(form), ...switchedOff(form)] : []) {
    if (form.dataset.changes !== undefined && asBefore(form, name, text)) continue;
    const value = WORDS.get(text) ?? (/^-?\d+$/.test(text) ? Number(text) : text);
    if (name.includes('[]')) (body[name.split('[]')[0]] ||= []).push(value);
    else if (!name.startsWith('_')) put(body, name.split('.'), value);
  }
  const chosen = form ? [...form.querySelectorAll('input:checked[data-body]')].filter((node) => node.offsetParent) : [];
  return Object.assign(body, ...[...chosen, form, button].map((node) => JSON.parse(node?.dataset.body || '{}')));
}

// Of what the page shows already only changes are sent: the rest may follow from tiles that change.
function asBefore(form, name, text) {
  const inputs = [...form.querySelectorAll(`input[name="${name}"]`)];
  return inputs.some((input) => (input.type === 'hidden' ? input.dataset.was === text
    : input.type === 'checkbox' ? input.defaultChecked === (text === 'true')
      : input.defaultChecked && input.value === text));
}

const WORDS = new Map([['true', true], ['false', false]]);

function switchedOff(form) {
  return [...form.querySelectorAll('input[data-off]:not(:checked)')].map((input) => [input.name, input.dataset.off]);
}

function put(body, path, value) {
  let at = body;
  for (const part of path.slice(0, -1)) at = at[part] ||= {};
  at[path.at(-1)] = value;
}

function act(button) {
  const form = button.closest('form');
  if ('submit' in button.dataset) {
    if (!form.reportValidity()) return;
    const other = form.querySelector('input:checked[data-action]'); // a choice with an action of its own
    const body = bodyOf(button);
    if (other && !(other.name in JSON.parse(other.dataset.body || '{}'))) delete body[other.name];
    post(other?.dataset.action || form.dataset.post, body, button);
  } else {
    post(button.dataset.post, bodyOf(button), button);
  }
}

function notice(text) {
  const line = $('#notice');
  line.textContent = text;
  line.hidden = false;
  clearTimeout(notice.timer);
  notice.timer = setTimeout(() => { line.hidden = true; }, 5000);
}

// ---- sheets ---------------------------------------------------------------------------------------------

function hide() {
  open = null;
  for (const node of document.querySelectorAll('.sheet, .scrim')) node.hidden = true;
  for (const node of document.querySelectorAll('.tile.sel')) node.classList.remove('sel');
}

function show({ name, i, place, fact, has }, again = false) {
  const sheet = document.getElementById(`sheet-${name}`);
  hide();
  if (!sheet || (name === 'fix' && !fillFix(sheet, i, place))) return;
  if (name === 'hand') editor.open(sheet, again, place);
  open = { name, i, place, fact, has };
  sheet.hidden = false;
  $('.scrim').hidden = false;
  $('.scrim').classList.toggle('under', sheet.classList.contains('half')); // the hand above stays readable
  if (!again) $('button, input', sheet)?.focus({ preventScroll: true });
}

// The sheet for mending a tile: what was read, the likely kinds, the cut of the photo.
function fillFix(sheet, i, place) {
  const whose = place === undefined ? ':not([data-place])' : `[data-place="${place}"]`;
  const tile = $(`button.tile[data-i="${i}"]${whose}`);
  if (!tile) return false;
  tile.classList.add('sel');
  const { is, read, sure, why, box, shot } = tile.dataset;
  $('.read', sheet).textContent = read;
  $('.sure', sheet).textContent = sure;
  $('.why-doubt', sheet).textContent = why;
  for (const button of sheet.querySelectorAll('.kinds [data-kind]')) {
    button.classList.toggle('on', button.dataset.kind === is);
  }
  const likely = JSON.parse(tile.dataset.candidates).filter(([kind]) => kind !== is);
  const list = $('.candidates', sheet);
  list.replaceChildren(...[[is, list.dataset.right], ...likely].slice(0, 3).map(([kind, text], at) => {
    const button = document.createElement('button');
    const face = $(`.kinds [data-kind="${kind}"] .tile`, sheet) || $('.tile svg', tile.parentNode).parentNode;
    const label = document.createElement('span');
    label.textContent = text;
    button.type = 'button';
    button.className = at ? 'candidate' : 'candidate on';
    button.dataset.kind = kind;
    button.append(face.cloneNode(true), label);
    return button;
  }));
  const cut = $('svg.cut', sheet);
  if (shot && box) {
    const [url, width, height] = shot.split(' ');
    const picture = $('image', cut);
    picture.setAttribute('href', url);
    picture.setAttribute('width', width);
    picture.setAttribute('height', height);
    const [x0, y0, x1, y1] = box.split(' ').map(Number);
    const pad = 0.25 * Math.max(x1 - x0, y1 - y0);
    cut.setAttribute('viewBox', `${x0 - pad} ${y0 - pad} ${x1 - x0 + 2 * pad} ${y1 - y0 + 2 * pad}`);
  }
  cut.classList.toggle('none', !(shot && box));
  return true;
}

// A fact that is tiles, as the request wants it; no tiles take it back.
function tilesOf(tiles) {
  const body = {};
  put(body, open.fact.split('.'), tiles || null);
  return body;
}

// The place that an open sheet speaks of; the claimant's needs no name.
function whose() {
  return open?.place === undefined ? {} : { place: Number(open.place) };
}

// A number with one more and one less beside it.
function step(input, value) {
  const number = Math.min(Number(input.dataset.most), Math.max(0, Number(value)));
  input.value = number;
  input.previousElementSibling.textContent = number;
}

function pick(button) {
  const sheet = button.closest('[data-pick]');
  const { kind } = button.dataset;
  if (sheet.dataset.pick === 'fact') post('amend', tilesOf(open.has + kind), button);
  else if (sheet.dataset.pick === 'tile') post('tile', { i: Number(open.i), kind, ...whose() }, button);
  else post(sheet.dataset.pick, { tile: kind }, button);
}

// ---- input ----------------------------------------------------------------------------------------------

document.addEventListener('click', (event) => {
  const hit = event.target.closest('button, [data-sheet]');
  if (!hit || hit.disabled || 'hold' in hit.dataset) return;
  if ('close' in hit.dataset) hide();
  else if ('sendHand' in hit.dataset) post('hand', { line: editor.line(), ...whose() }, hit);
  else if ('clear' in hit.dataset) post('amend', tilesOf(''), hit);
  else if (hit.dataset.step) step($('input', hit.parentNode), Number($('input', hit.parentNode).value) + Number(hit.dataset.step));
  else if (hit.closest('.hand-sheet') && editor.tap(hit)) return;
  else if (hit.dataset.kind && hit.closest('[data-pick]')) pick(hit);
  else if (hit.dataset.sheet) show({ name: hit.dataset.sheet, i: hit.dataset.i, place: hit.dataset.place, fact: hit.dataset.name, has: hit.dataset.has });
  else if (hit.dataset.post || 'submit' in hit.dataset) act(hit);
});

document.addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.target;
  if (form.dataset.post && event.submitter) post(form.dataset.post, bodyOf(event.submitter), event.submitter);
});

// Holding is for what cannot be taken back lightly: the whole second must pass on the button.
function press(button) {
  if (held || busy || button.disabled) return;
  button.classList.add('holding');
  const timer = setTimeout(() => { release(); act(button); }, Number(button.dataset.hold));
  held = { button, timer };
}

function release() {
  if (!held) return;
  clearTimeout(held.timer);
  held.button.classList.remove('holding');
  held = null;
  const html = later;
  later = null;
  if (html) swap(html);
}

document.addEventListener('pointerdown', (event) => {
  const button = event.target.closest('[data-hold]');
  if (button && event.isPrimary && event.button === 0) press(button);
});
for (const kind of ['pointerup', 'pointercancel', 'blur']) window.addEventListener(kind, release);
document.addEventListener('pointerout', (event) => {
  if (held && !held.button.contains(event.relatedTarget)) release();
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') hide();
  const button = event.target.closest?.('[data-hold]');
  if (button && !event.repeat && (event.key === 'Enter' || event.key === ' ')) press(button);
});
document.addEventListener('keyup', release);
document.addEventListener('contextmenu', (event) => event.preventDefault()); // a long touch is no right click

// ---- clocks ---------------------------------------------------------------------------------------------

const since = new WeakMap(); // when each clock was rendered; the value itself stays the server's

function tick() {
  const now = Date.now();
  for (const node of document.querySelectorAll('[data-clock]')) {
    if (node.dataset.clock === '') continue;
    if (!since.has(node)) since.set(node, now);
    const passed = Math.floor((now - since.get(node)) / 1000) * Number(node.dataset.step);
    const s = Math.max(0, Math.floor(Number(node.dataset.clock)) + passed);
    const two = (n) => String(n).padStart(2, '0');
    const text = `${Math.floor(s / 60) % 60}:${two(s % 60)}`;
    if (node.dataset.warn) node.parentNode.classList.toggle('late', s <= Number(node.dataset.warn));
    node.textContent = s < 3600 ? text : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
  }
  for (const node of document.querySelectorAll('[data-now]')) {
    node.textContent = new Date(now).toTimeString().slice(0, 5);
  }
  const pages = [...document.querySelectorAll('[data-page]')];
  pages.forEach((page, n) => { page.hidden = n !== Math.floor(now / PAGE_MS) % pages.length; });
}

setInterval(() => { tick(); watch(); }, 1000);
connect();
tick();
