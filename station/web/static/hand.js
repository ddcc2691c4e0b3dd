// A hand typed in by a person, for when the camera cannot help: no photo, a tile too many or too few, melds
// grouped wrongly. The result is the one-line notation, without the facts the table knows itself.

const LETTERS = { pung: 'P', kong: 'K', concealed_kong: 'A' };
const COPIES = { pung: 3, kong: 4, concealed_kong: 4 };

export class HandEditor {
  open(sheet, again) {
    this.sheet = sheet;
    if (!again || !this.hand) {
      this.hand = { concealed: [], melds: [], win: null, ...JSON.parse(sheet.dataset.hand || '{}') };
      const known = (kind) => /^\d[mpszf]$/.test(kind || '');
      this.hand.concealed = this.hand.concealed.filter(known);
      this.hand.melds = this.hand.melds.filter((meld) => known(meld.tile));
      if (!known(this.hand.win)) this.hand.win = null;
    }
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
      if (slot === 'win') this.hand.win = kind;
      else if (slot === 'concealed') this.hand.concealed.push(kind);
      else this.hand.melds.push({ kind: slot, tile: kind });
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
    const melds = this.hand.melds.map(({ kind, tile }) => `${LETTERS[kind]}:${tile[0].repeat(COPIES[kind])}${tile[1]}`);
    return [text, ...melds, this.hand.win ? `+${this.hand.win}` : ''].filter(Boolean).join(' ');
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
    const { melds, win } = this.hand;
    this.sheet.querySelector('.typed').replaceChildren(
      ...melds.map((meld, at) => button(`melds ${at}`, Array(COPIES[meld.kind]).fill(meld.tile), `meld ${meld.kind}`)),
      ...this.sorted().map(([kind, at]) => button(`concealed ${at}`, [kind], 'one')),
      ...(win ? [button('win 0', [win], 'one won')] : []),
    );
    const count = this.hand.concealed.length + melds.reduce((n, m) => n + COPIES[m.kind], 0) + (win ? 1 : 0);
    const go = this.sheet.querySelector('[data-send-hand]');
    go.querySelector('small').textContent = String(count);
    go.disabled = !win || !this.hand.concealed.length;
  }
}
