// Tiles typed in by a person, for when the camera cannot help: no photo, a tile too many or too few, melds
// grouped wrongly. The result is the one-line notation, without the facts the table knows itself. Of a player
// who claims nothing only melds and spread tiles are typed.

const LETTERS = { chow: 'C', pung: 'P', kong: 'K', concealed_kong: 'A', shao: 'H' };
const COPIES = { chow: 3, pung: 3, kong: 4, concealed_kong: 4, shao: 3 };

// The kinds of a meld named by one tile; a chow by its lowest.
const kindsOf = ({ kind, tile }) => Array.from({ length: COPIES[kind] }, (_, n) => (
  kind === 'chow' ? `${Number(tile[0]) + n}${tile[1]}` : tile));

const fits = ({ kind, tile }) => kind !== 'chow' || ('mps'.includes(tile[1]) && Number(tile[0]) <= 7);

export class HandEditor {
  open(sheet, again, place) {
    this.sheet = sheet;
    if (!again || !this.hand) {
      this.others = place !== undefined;
      const source = this.others ? document.getElementById(`sheet-shown-${place}`) : sheet;
      this.hand = { concealed: [], melds: [], win: null, ...JSON.parse(source?.dataset.hand || '{}') };
      const known = (kind) => /^\d[mpszf]$/.test(kind || '');
      this.hand.concealed = this.hand.concealed.filter(known);
      this.hand.melds = this.hand.melds.filter((meld) => known(meld.tile) && fits(meld));
      if (!known(this.hand.win)) this.hand.win = null;
    }
    sheet.classList.toggle('of-others', this.others);
    const slot = sheet.querySelector('input[name="slot"]:checked');
    if (!again || !slot.offsetParent) sheet.querySelector(`input[value="${this.others ? 'spread' : 'concealed'}"]`).checked = true;
    this.draw();
  }

  slot() {
    return this.sheet.querySelector('input[name="slot"]:checked').value;
  }

  // True when the tap was one of ours.
  tap(button) {
    const { kind, drop } = button.dataset;
    if (drop) {
      const [where, at] = drop.split(' ');
      if (where === 'win') this.hand.win = null;
      else this.hand[where].splice(Number(at), 1);
    } else if (kind) {
      const slot = this.slot();
      const meld = { kind: slot, tile: kind };
      if (slot === 'win') this.hand.win = kind;
      else if (!LETTERS[slot]) this.hand.concealed.push(kind);
      else if (fits(meld)) this.hand.melds.push(meld);
    } else {
      return false;
    }
    this.draw();
    return true;
  }

  sorted() {
    const order = (kind) => 'mpszf'.indexOf(kind[1]) * 10 + Number(kind[0]);
    return this.hand.concealed.map((kind, at) => [kind, at]).sort((a, b) => order(a[0]) - order(b[0]));
  }

  line() {
    let text = '';
    for (const suit of 'mpszf') {
      const digits = this.sorted().filter(([kind]) => kind[1] === suit).map(([kind]) => kind[0]).join('');
      if (digits) text += digits + suit;
    }
    const melds = this.hand.melds.map((meld) => `${LETTERS[meld.kind]}:${kindsOf(meld).map((kind) => kind[0]).join('')}${meld.tile[1]}`);
    return [text, ...melds, this.hand.win && !this.others ? `+${this.hand.win}` : ''].filter(Boolean).join(' ');
  }

  draw() {
    const face = (kind) => this.sheet.querySelector(`.kinds [data-kind="${kind}"] .tile`).cloneNode(true);
    const button = (drop, kinds, cls) => {
      const node = document.createElement('button');
      node.type = 'button';
      node.className = cls;
      node.dataset.drop = drop;
      node.append(...kinds.map(face));
      return node;
    };
    const { melds } = this.hand;
    const win = this.others ? null : this.hand.win;
    this.sheet.querySelector('.typed').replaceChildren(
      ...melds.map((meld, at) => button(`melds ${at}`, kindsOf(meld), `meld ${meld.kind}`)),
      ...this.sorted().map(([kind, at]) => button(`concealed ${at}`, [kind], 'one')),
      ...(win ? [button('win 0', [win], 'one won')] : []),
    );
    const count = this.hand.concealed.length + melds.reduce((n, m) => n + COPIES[m.kind], 0) + (win ? 1 : 0);
    this.sheet.querySelector('.typed').classList.toggle('long', count > 18);
    const go = this.sheet.querySelector('[data-send-hand]');
    go.querySelector('small').textContent = String(count);
    go.disabled = this.others ? !count : !this.hand.concealed.length;
  }
}
