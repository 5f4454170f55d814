// The last minutes: error, what was imagined, latent, novelty and the guard, over one axis of time.

import { AT } from './history.js';
import { Sheet, colours, font, metres, nice, rgba, series } from './draw.js';

const LEFT = 54, RIGHT = 12, HEAD = 17, FOOT = 20, GAP = 7, BAND = 12; // px
const PURE = { scale: 1, name: '' };
const lengths = (mm) => (mm ? { scale: 1000, name: ' mm' } : { scale: 1, name: ' m' });
const TORN = 700; // ms without a row: the line is torn

export const stageColour = (stage) => [colours.green, colours.orange, colours.red, colours.red, colours.purple, colours.soft][stage] ?? colours.soft;

export class Plots {
  constructor(canvas, changed) {
    this.sheet = new Sheet(canvas, changed);
    this.under = null;  // px, where the pointer is
    this.pinned = null; // ms, a moment that was clicked on
    this.window = [0, 1]; // ms, what is shown
    const point = (e) => {
      const x = e.clientX - canvas.getBoundingClientRect().left;
      this.under = x >= LEFT && x <= this.sheet.width - RIGHT ? x : null;
      changed();
    };
    canvas.addEventListener('pointermove', point);
    canvas.addEventListener('pointerdown', (e) => {
      point(e);
      this.pinned = this.pinned === null ? this.pointed() : null;
    });
    canvas.addEventListener('pointerleave', () => { this.under = null; changed(); });
  }

  // pointed is the moment that somebody points at; null where nobody does.
  pointed() {
    if (this.pinned !== null) return this.pinned;
    const [t0, t1] = this.window;
    return this.under === null ? null : t0 + (this.under - LEFT) / (this.sheet.width - LEFT - RIGHT) * (t1 - t0);
  }

  // show takes the window of time that is drawn next.
  show(until, span) { this.window = [until - 1000 * span, until]; }

  draw(world) {
    const c = this.sheet.clear(), { width, height } = this.sheet;
    const [t0, t1] = this.window, pointed = this.pointed();
    this.x = (t) => LEFT + (t - t0) / (t1 - t0) * (width - LEFT - RIGHT);
    c.lineJoin = 'round';
    const shares = [1, 0.9, 1.1, 0.8], total = shares.reduce((a, b) => a + b);
    const room = height - FOOT - BAND - 4 * GAP;
    let top = 0;
    const panels = shares.map((s) => {
      const box = { top: top + HEAD, bottom: top + s / total * room };
      top = box.bottom + GAP;
      return box;
    });
    this.axis(t0, t1, top + BAND);
    this.marks(world, t0, panels[0].top, top);
    this.error(world, panels[0]);
    this.ahead(world, panels[1]);
    this.latent(world, panels[2]);
    this.novelty(world, panels[3]);
    this.guard(world, top + 2);
    if (pointed !== null && pointed >= t0) {
      const x = this.x(pointed);
      c.strokeStyle = rgba(colours.ink, 0.6);
      c.lineWidth = 1;
      c.beginPath();
      c.moveTo(x, 4);
      c.lineTo(x, top + BAND);
      c.stroke();
    }
  }

  axis(t0, t1, bottom) {
    const { c, width } = this.sheet, span = (t1 - t0) / 1000, step = nice(span / Math.max(3, width / 110), true);
    c.font = font(11);
    c.fillStyle = colours.soft;
    c.textAlign = 'center';
    for (let s = 0; s < span * 0.97; s += step) {
      const x = this.x(t1 - 1000 * s);
      c.fillText(s ? `−${+s.toFixed(1)} s` : 'now', Math.min(x, width - 16), bottom + 13);
    }
    c.textAlign = 'left';
  }

  // marks where another bundle took over.
  marks(world, t0, top, bottom) {
    const { history } = world, { c } = this.sheet;
    let last = null;
    for (let i = history.from(t0); i < history.end; i++) {
      const b = history.get(i, AT.bundle);
      if (last !== null && b !== last) {
        const x = this.x(history.time(i));
        c.setLineDash([3, 3]);
        c.strokeStyle = rgba(colours.green, 0.8);
        c.lineWidth = 1;
        c.beginPath();
        c.moveTo(x, top - 10);
        c.lineTo(x, bottom);
        c.stroke();
        c.setLineDash([]);
        c.font = font(10.5);
        c.fillStyle = colours.green;
        c.textAlign = x > this.sheet.width / 2 ? 'right' : 'left';
        c.fillText((world.bundles[b]?.id ?? '').slice(0, 8), x + (c.textAlign === 'left' ? 4 : -4), top - 3);
        c.textAlign = 'left';
      }
      last = b;
    }
  }

  // panel draws the ground of a panel from lo to hi, with its title, and returns what takes a value to its height.
  panel(box, lo, hi, title, unit, digits) {
    const { c, width } = this.sheet;
    const y = (v) => box.bottom - (v - lo) / (hi - lo) * (box.bottom - box.top);
    c.lineWidth = 1;
    c.font = font(10.5);
    c.textAlign = 'right';
    for (const v of [lo, (lo + hi) / 2, hi]) {
      c.strokeStyle = rgba(colours.line, v === lo ? 1 : 0.6);
      c.beginPath();
      c.moveTo(LEFT, y(v) + 0.5);
      c.lineTo(width - RIGHT, y(v) + 0.5);
      c.stroke();
      c.fillStyle = colours.soft;
      c.fillText((v * unit.scale).toFixed(digits) + (v === hi ? unit.name : ''), LEFT - 5, y(v) + 3.5);
    }
    c.textAlign = 'left';
    let x = LEFT;
    for (const part of title) {
      c.font = font(11.5, part.colour ? 600 : 400);
      c.fillStyle = part.colour ?? colours.soft;
      c.fillText(part.text, x, box.top - 5);
      x += c.measureText(part.text).width + 10;
    }
    return y;
  }

  // line of a value of the rows: of all that fall on one pixel the least and the greatest.
  line(world, value, y, style, width = 1.4) {
    const { history } = world, { c } = this.sheet;
    const [t0, t1] = this.window, bin = (t1 - t0) / Math.max(this.sheet.width - LEFT - RIGHT, 1);
    c.beginPath();
    let key = null, down = false, lo, hi, last, before = null;
    const flush = () => {
      if (key === null) return;
      const x = this.x((key + 0.5) * bin);
      if (down) c.lineTo(x, y(lo)); else c.moveTo(x, y(lo));
      if (hi !== lo) c.lineTo(x, y(hi));
      if (last !== hi) c.lineTo(x, y(last));
      down = true;
    };
    const end = history.from(t1 + 1);
    for (let i = history.from(t0); i < end; i++) {
      const t = history.time(i), v = value(i);
      const k = Math.floor(t / bin), torn = !Number.isFinite(v) || before !== null && t - before > TORN;
      if (k !== key || torn) {
        flush();
        key = null;
        if (torn) down = false;
      }
      before = t;
      if (!Number.isFinite(v)) continue;
      if (key === null) { key = k; lo = hi = v; }
      lo = Math.min(lo, v);
      hi = Math.max(hi, v);
      last = v;
    }
    flush();
    c.strokeStyle = style.colour;
    c.setLineDash(style.dash);
    c.lineWidth = width;
    c.stroke();
    c.setLineDash([]);
  }

  // widest is the greatest value of what is shown.
  widest(world, value) {
    const { history } = world;
    let m = 0;
    for (let i = history.from(this.window[0]), end = history.from(this.window[1] + 1); i < end; i++) {
      const v = value(i);
      if (v > m && v < Infinity) m = v;
    }
    return m;
  }

  error(world, box) {
    const { history } = world, value = (i) => history.error(i), row = world.row;
    const hi = nice(Math.max(this.widest(world, value), 0.01)), mm = hi < 1;
    const y = this.panel(box, 0, hi, [{ text: 'error' }, { text: row < 0 ? '–' : metres(value(row)), colour: colours.red }], lengths(mm), mm ? (hi < 0.02 ? 1 : 0) : 1);
    this.line(world, value, y, { colour: colours.red, dash: [] }, 1.6);
  }

  ahead(world, box) {
    const shown = world.imagined.filter((r) => r.end >= this.window[0] && r.end <= this.window[1]);
    const last = shown[shown.length - 1];
    let hi = 0.05;
    for (const r of shown) hi = Math.max(hi, r.model_error ?? 0, r.physics_error ?? 0);
    hi = nice(hi);
    const mm = hi < 1, c = this.sheet.c;
    const y = this.panel(box, 0, hi, [{ text: this.sheet.width < 480 ? '1 s imagined' : 'imagined 1 s ahead' }, { text: `model ${metres(last?.model_error)}`, colour: colours.orange },
      { text: `${this.sheet.width < 480 ? 'physics' : 'physics alone'} ${metres(last?.physics_error)}`, colour: colours.soft }], lengths(mm), mm ? 0 : 1);
    for (const [key, colour] of [['physics_error', colours.soft], ['model_error', colours.orange]]) {
      c.beginPath();
      let before = null;
      for (const r of shown) {
        if (r[key] === null) { before = null; continue; }
        const x = this.x(r.end), v = y(Math.min(r[key], hi));
        if (before !== null && r.end - before < 3000) c.lineTo(x, v); else c.moveTo(x, v);
        before = r.end;
      }
      c.strokeStyle = colour;
      c.lineWidth = 1.5;
      c.stroke();
    }
  }

  latent(world, box) {
    const { history, row } = world;
    let size = row < 0 ? 0 : history.get(row, AT.z);
    for (let i = history.from(this.window[0]); i < history.end; i += 25) size = Math.max(size, history.get(i, AT.z));
    const value = (k) => (i) => (k < history.get(i, AT.z) ? history.get(i, world.latentAt + k) : NaN);
    let hi = 1;
    for (let k = 0; k < size; k++) { const v = value(k); hi = Math.max(hi, this.widest(world, (i) => Math.abs(v(i)))); }
    hi = Math.min(nice(hi), 10);
    const { c } = this.sheet;
    const y = this.panel(box, -hi, hi, [{ text: 'latent' }, { text: size ? `z of ${size}` : 'prior mean' }], PURE, hi < 2 ? 1 : 0);
    c.save();
    c.beginPath();
    c.rect(LEFT, box.top - 1, this.sheet.width, box.bottom - box.top + 2);
    c.clip();
    for (let k = 0; k < size; k++) this.line(world, value(k), y, series(k), 1);
    c.restore();
  }

  novelty(world, box) {
    const { history, row } = world;
    const of = (word) => (i) => history.get(i, word);
    const text = (word) => (row < 0 || !Number.isFinite(history.get(row, word)) ? '–' : history.get(row, word).toFixed(2));
    const y = this.panel(box, 0, 1, [{ text: `novelty ${text(AT.novelty)}`, colour: colours.purple }, { text: `confidence ${text(AT.confidence)}`, colour: colours.blue }], PURE, 1);
    this.line(world, of(AT.confidence), y, { colour: colours.blue, dash: [] });
    this.line(world, of(AT.novelty), y, { colour: colours.purple, dash: [] });
  }

  // guard is a band in the colour of who was in charge.
  guard(world, top) {
    const { history } = world, { c } = this.sheet;
    let from = null, stage = null, until = null;
    const paint = () => {
      if (from === null) return;
      c.fillStyle = stageColour(stage);
      c.fillRect(this.x(from), top, Math.max(this.x(until) - this.x(from), 1), BAND - 5);
    };
    for (let i = history.from(this.window[0]); i < history.end; i++) {
      const s = history.get(i, AT.stage), t = history.time(i);
      if (s !== stage || t - until > TORN) {
        if (from !== null && t - until <= TORN) until = t;
        paint();
        from = t;
        stage = s;
      }
      until = t;
    }
    paint();
    c.font = font(10.5);
    c.fillStyle = colours.soft;
    c.textAlign = 'right';
    c.fillText('guard', LEFT - 5, top + 8);
    c.textAlign = 'left';
  }
}
