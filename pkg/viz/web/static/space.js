// The flight in space: world z up, metres.

import { AT } from './history.js';
import { Sheet, colours, font, metres, mix, rgba } from './draw.js';

const ARM = 0.17;     // m, half the diagonal of the drawn frame
const PER_G = 0.5;    // m, length of an arrow of 1 g
const G = 9.81;       // m/s²
const APART = 0.04;   // m, between two rings of the tube
const FULL = 0.3;     // m, error in full colour
const TUBE = 20;      // s
const DRAWN = 6;      // rollouts

export const LAYERS = [
  ['flown', 'flown', 'ink'], ['reference', 'reference', 'blue'], ['tube', 'error', 'red'], ['model', 'imagined', 'orange'],
  ['physics', 'physics alone', 'soft'], ['thrust', 'thrust', 'green'], ['residual', 'unexplained', 'purple'],
];

export class Space {
  constructor(canvas, changed) {
    this.sheet = new Sheet(canvas, changed);
    this.changed = changed;
    this.on = Object.fromEntries(LAYERS.map(([key]) => [key, true]));
    this.home = { yaw: -0.9, pitch: 0.42, far: 5.2, at: [0, 0, 1] };
    this.camera = { ...this.home };
    this.follow = false;
    this.touched = false;
    this.pointers = new Map();
    this.listen(canvas);
  }

  listen(canvas) {
    canvas.addEventListener('pointerdown', (e) => { canvas.setPointerCapture(e.pointerId); this.pointers.set(e.pointerId, e); });
    for (const end of ['pointerup', 'pointercancel']) canvas.addEventListener(end, (e) => this.pointers.delete(e.pointerId));
    canvas.addEventListener('pointermove', (e) => this.move(e));
    canvas.addEventListener('wheel', (e) => { e.preventDefault(); this.zoom(Math.exp(e.deltaY * 0.001)); }, { passive: false });
    canvas.addEventListener('dblclick', () => this.look('home'));
  }

  move(e) {
    const before = this.pointers.get(e.pointerId);
    if (!before) return;
    const dx = e.clientX - before.clientX, dy = e.clientY - before.clientY;
    if (this.pointers.size === 1 && !e.shiftKey && e.buttons !== 2) {
      this.camera.yaw -= dx * 0.006;
      this.camera.pitch = Math.min(Math.max(this.camera.pitch + dy * 0.006, -0.2), 1.55);
    } else if (this.pointers.size === 2) {
      const other = [...this.pointers.values()].find((p) => p.pointerId !== e.pointerId);
      const was = Math.hypot(before.clientX - other.clientX, before.clientY - other.clientY);
      const is = Math.hypot(e.clientX - other.clientX, e.clientY - other.clientY);
      if (is > 0) this.zoom(was / is);
    } else {
      const k = this.camera.far / this.sheet.height, { yaw } = this.camera;
      this.camera.at = [this.camera.at[0] + k * (Math.sin(yaw) * dx + Math.cos(yaw) * dy), this.camera.at[1] + k * (-Math.cos(yaw) * dx + Math.sin(yaw) * dy), this.camera.at[2]];
    }
    this.pointers.set(e.pointerId, e);
    this.touched = true;
    this.changed();
  }

  zoom(by) {
    this.camera.far = Math.min(Math.max(this.camera.far * by, 0.6), 60);
    this.touched = true;
    this.changed();
  }

  look(view) {
    const { home } = this;
    if (view === 'top') Object.assign(this.camera, { yaw: -Math.PI / 2, pitch: 1.55 });
    else if (view === 'side') Object.assign(this.camera, { yaw: -Math.PI / 2, pitch: 0 });
    else if (view === 'follow') this.follow = !this.follow;
    else { this.camera = { ...home }; this.follow = this.touched = false; }
    this.changed();
  }

  // frame has the camera look at what there is to see, until somebody turned it.
  frame(path) {
    if (!path.length) return;
    const lo = [...path[0]], hi = [...path[0]];
    for (const p of path) for (let k = 0; k < 3; k++) { lo[k] = Math.min(lo[k], p[k]); hi[k] = Math.max(hi[k], p[k]); }
    const size = Math.hypot(hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]);
    this.home = { ...this.home, at: lo.map((v, k) => (v + hi[k]) / 2), far: Math.max(2.4, 1.15 * size + 0.9) };
    if (!this.touched) this.camera = { ...this.home };
  }

  // prepare the projection of this picture.
  prepare() {
    const { yaw, pitch, far, at } = this.camera, { width, height } = this.sheet;
    const cp = Math.cos(pitch), sp = Math.sin(pitch), cy = Math.cos(yaw), sy = Math.sin(yaw);
    const eye = [at[0] + far * cp * cy, at[1] + far * cp * sy, at[2] + far * sp];
    const f = 1.15 * Math.min(height, width * 0.8), cx = width / 2, my = height / 2;
    // Right, up and forward in the world.
    this.project = (p) => {
      const x = p[0] - eye[0], y = p[1] - eye[1], z = p[2] - eye[2];
      const depth = -(cp * cy * x + cp * sy * y + sp * z);
      if (!(depth > 0.1)) return null;
      return [cx + f * (-sy * x + cy * y) / depth, my - f * (-sp * cy * x - sp * sy * y + cp * z) / depth, f / depth];
    };
  }

  line(points, colour, width, dash = []) {
    const { c } = this.sheet;
    c.beginPath();
    let down = false;
    for (const p of points) {
      const s = p && this.project(p);
      if (!s) { down = false; continue; }
      if (down) c.lineTo(s[0], s[1]); else c.moveTo(s[0], s[1]);
      down = true;
    }
    c.setLineDash(dash);
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.stroke();
    c.setLineDash([]);
  }

  draw(world) {
    const c = this.sheet.clear();
    c.lineJoin = c.lineCap = 'round';
    const { history } = world;
    const row = history.near(world.at);
    if (this.follow && row >= 0) this.camera.at = history.vec(row, AT.p);
    this.prepare();
    this.floor(world);
    if (this.on.reference) this.line(world.path, rgba(colours.blue, 0.9), 1.8);
    if (row < 0) return;
    if (this.on.flown) this.trail(history, row, world.span);
    if (this.on.tube) this.tube(history, row, Math.min(world.span, TUBE));
    this.rollouts(world);
    this.vehicle(history, row);
  }

  floor(world) {
    let half = 3;
    for (const p of world.path) half = Math.max(half, Math.abs(p[0]) + 1, Math.abs(p[1]) + 1);
    half = Math.min(Math.ceil(half), 30);
    const thin = rgba(colours.faint, 0.6);
    for (let k = -half; k <= half; k++) {
      this.line([[k, -half, 0], [k, half, 0]], thin, k ? 0.7 : 1.4);
      this.line([[-half, k, 0], [half, k, 0]], thin, k ? 0.7 : 1.4);
    }
    const { c } = this.sheet, o = this.project([0, 0, 0]);
    for (const [end, colour, name] of [[[0.5, 0, 0], colours.red, 'x'], [[0, 0.5, 0], colours.green, 'y'], [[0, 0, 0.5], colours.blue, 'z']]) {
      this.line([[0, 0, 0], end], colour, 2);
      const s = this.project(end);
      if (!s || !o) continue;
      c.fillStyle = colour;
      c.font = font(11, 600);
      c.fillText(name, s[0] + 4, s[1] + 4);
    }
  }

  // trail of what was flown, the fainter the older, and its shadow on the floor.
  trail(history, row, span) {
    const now = history.time(row), first = history.from(now - 1000 * span), parts = 24;
    const shadow = [];
    for (let k = 0, i = first; k < parts; k++) {
      const until = k === parts - 1 ? now + 1 : now - 1000 * span * (1 - (k + 1) / parts);
      const points = i > first ? [history.vec(i - 1, AT.p)] : [];
      let last = null;
      for (; i <= row && history.time(i) < until; i++) {
        const p = history.vec(i, AT.p);
        if (i > first && history.time(i) - history.time(i - 1) > 500) points.push(null);
        else if (last && i < row && Math.abs(p[0] - last[0]) + Math.abs(p[1] - last[1]) + Math.abs(p[2] - last[2]) < 0.004) continue;
        points.push(p);
        last = p;
      }
      const age = (k + 1) / parts;
      this.line(points, rgba(colours.ink, 0.1 + 0.8 * age * age), 1 + 1.1 * age);
      if (k > parts * 0.6) for (const p of points) shadow.push(p && [p[0], p[1], 0]);
    }
    this.line(shadow, rgba(colours.soft, 0.25), 1.5);
  }

  // tube around the reference, as wide as the vehicle was off.
  tube(history, row, span) {
    const rings = [];
    const now = history.time(row);
    for (let i = history.from(now - 1000 * span); i <= row; i++) {
      const g = history.vec(i, AT.goal), e = history.error(i), last = rings[rings.length - 1];
      if (!Number.isFinite(e) || history.get(i, AT.stage) > 1) continue; // the guard does not follow it
      if (last && Math.hypot(g[0] - last.g[0], g[1] - last.g[1], g[2] - last.g[2]) < APART) { last.e = Math.max(last.e, e); last.t = history.time(i); continue; }
      rings.push({ g, e, t: history.time(i) });
    }
    const { c } = this.sheet;
    for (const r of rings) r.s = this.project(r.g);
    if (rings.length === 1 && rings[0].s) {
      const [{ s, e }] = rings;
      c.beginPath();
      c.arc(s[0], s[1], Math.max(e * s[2], 1), 0, 2 * Math.PI);
      c.fillStyle = mix(colours.green, colours.red, e / FULL, 0.28);
      return c.fill();
    }
    const edge = (i) => {
      const a = rings[Math.max(i - 1, 0)].s || rings[i].s, b = rings[Math.min(i + 1, rings.length - 1)].s || rings[i].s, { s, e } = rings[i];
      let x = -(b[1] - a[1]), y = b[0] - a[0];
      const n = Math.hypot(x, y) || 1, r = Math.max(e * s[2], 0.8);
      return [x * r / n, y * r / n];
    };
    for (let i = 1; i < rings.length; i++) {
      const a = rings[i - 1], b = rings[i];
      if (!a.s || !b.s || b.t - a.t > 2000 || Math.hypot(b.g[0] - a.g[0], b.g[1] - a.g[1], b.g[2] - a.g[2]) > 1) continue;
      const u = edge(i - 1), v = edge(i);
      c.beginPath();
      c.moveTo(a.s[0] + u[0], a.s[1] + u[1]);
      c.lineTo(b.s[0] + v[0], b.s[1] + v[1]);
      c.lineTo(b.s[0] - v[0], b.s[1] - v[1]);
      c.lineTo(a.s[0] - u[0], a.s[1] - u[1]);
      c.fillStyle = mix(colours.green, colours.red, (a.e + b.e) / 2 / FULL, 0.06 + 0.22 * (1 - (now - b.t) / (1000 * span)));
      c.fill();
    }
  }

  rollouts(world) {
    const shown = world.imagined.filter((r) => r.model && r.end <= world.at + 50).slice(-DRAWN);
    const { c } = this.sheet;
    shown.forEach((r, k) => {
      const fresh = (k + 1) / shown.length;
      if (this.on.physics) this.line(r.physics, rgba(colours.soft, 0.25 + 0.6 * fresh), 1.4, [4, 4]);
      if (!this.on.model) return;
      this.line(r.model, rgba(colours.orange, 0.2 + 0.8 * fresh), 1.2 + 1.3 * fresh);
      const end = this.project(r.model[r.model.length - 1]);
      if (!end || k < shown.length - 1) return;
      c.beginPath();
      c.arc(end[0], end[1], 3.2, 0, 7);
      c.fillStyle = colours.orange;
      c.fill();
    });
  }

  vehicle(history, row) {
    const p = history.vec(row, AT.p), k = row * history.words + AT.q;
    const [w, x, y, z] = history.data.subarray(k, k + 4);
    const { c } = this.sheet;
    if (!p.every(Number.isFinite) || !Number.isFinite(w + x + y + z)) return;
    const turn = (v) => { // q v q⁻¹
      const tx = 2 * (y * v[2] - z * v[1]), ty = 2 * (z * v[0] - x * v[2]), tz = 2 * (x * v[1] - y * v[0]);
      return [p[0] + v[0] + w * tx + y * tz - z * ty, p[1] + v[1] + w * ty + z * tx - x * tz, p[2] + v[2] + w * tz + x * ty - y * tx];
    };
    this.line([p, [p[0], p[1], 0]], rgba(colours.soft, 0.45), 1, [2, 5]);
    const goal = history.vec(row, AT.goal), g = this.project(goal);
    if (g && this.on.reference) {
      c.beginPath();
      c.arc(g[0], g[1], 4, 0, 7);
      c.strokeStyle = colours.blue;
      c.lineWidth = 2;
      c.stroke();
    }
    if (g && this.on.tube) this.line([p, goal], colours.red, 2);
    const d = ARM / Math.SQRT2;
    const rotor = (cx, cy) => {
      c.beginPath();
      for (let i = 0; i <= 20; i++) {
        const a = 2 * Math.PI * i / 20, s = this.project(turn([cx + 0.55 * ARM * Math.cos(a), cy + 0.55 * ARM * Math.sin(a), 0.02]));
        if (!s) return;
        if (i) c.lineTo(s[0], s[1]); else c.moveTo(s[0], s[1]);
      }
      const front = cx > 0;
      c.fillStyle = rgba(front ? colours.orange : colours.ink, 0.16);
      c.strokeStyle = rgba(front ? colours.orange : colours.ink, 0.9);
      c.lineWidth = 1.3;
      c.fill();
      c.stroke();
    };
    this.line([turn([d, d, 0]), turn([-d, -d, 0])], colours.ink, 3);
    this.line([turn([d, -d, 0]), turn([-d, d, 0])], colours.ink, 3);
    for (const [cx, cy] of [[-d, d], [-d, -d], [d, d], [d, -d]]) rotor(cx, cy);
    if (this.on.thrust) {
      const thrust = history.get(row, AT.thrust);
      this.arrow(p, turn([0, 0, thrust / G * PER_G]), colours.green);
    }
    const r = history.vec(row, AT.residual);
    if (this.on.residual && r.every(Number.isFinite)) this.arrow(p, [0, 1, 2].map((i) => p[i] + r[i] / G * PER_G), colours.purple, `${Math.hypot(...r).toFixed(1)} m/s²`);
    const s = this.project(p), e = history.error(row);
    if (s && Number.isFinite(e)) {
      c.font = font(12, 600);
      c.fillStyle = colours.ink;
      c.fillText(metres(e), s[0] + 14 + 0.2 * s[2], s[1] - 6);
    }
  }

  arrow(from, to, colour, text = '') {
    const a = this.project(from), b = this.project(to), { c } = this.sheet;
    if (!a || !b) return;
    const n = Math.hypot(b[0] - a[0], b[1] - a[1]);
    if (n < 3) return;
    const x = (b[0] - a[0]) / n, y = (b[1] - a[1]) / n, head = Math.min(9, n);
    c.strokeStyle = c.fillStyle = colour;
    c.lineWidth = 2.6;
    c.beginPath();
    c.moveTo(a[0], a[1]);
    c.lineTo(b[0] - x * head * 0.7, b[1] - y * head * 0.7);
    c.stroke();
    c.beginPath();
    c.moveTo(b[0], b[1]);
    c.lineTo(b[0] - x * head - y * head * 0.5, b[1] - y * head + x * head * 0.5);
    c.lineTo(b[0] - x * head + y * head * 0.5, b[1] - y * head - x * head * 0.5);
    c.fill();
    if (text && n > 12) {
      c.font = font(11);
      c.fillText(text, b[0] + 6, b[1] + 4);
    }
  }
}
