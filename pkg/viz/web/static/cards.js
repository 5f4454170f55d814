// What is not a matter of space or minutes: latents, learner, bundles, latency, health.

import { AT } from './history.js';
import { Sheet, colours, font, mix, rgba, seconds, series } from './draw.js';

const $ = (id) => document.getElementById(id);

// tag makes an element with text.
export function tag(name, text = '', className = '') {
  const e = document.createElement(name);
  e.textContent = text;
  if (className) e.className = className;
  return e;
}

export const short = (id) => id.slice(0, 8);

// set changes text only where it differs.
export function set(id, text) {
  const e = $(id);
  if (e.textContent !== text) e.textContent = text;
}

export class Cards {
  constructor(ask, changed) {
    this.ask = ask;
    this.plane = new Sheet($('plane'), changed);
    this.losses = new Sheet($('losses'), changed);
    this.latency = new Sheet($('latency'), changed);
    $('rollback').addEventListener('click', () => this.rollback());
    $('name-form').addEventListener('submit', (e) => {
      e.preventDefault();
      const name = $('name').value.trim();
      if (name) this.ask({ ask: 'name', condition: name });
    });
  }

  // rollback asks twice: it is done in flight.
  rollback() {
    const b = $('rollback');
    if (!b.classList.contains('sure')) {
      b.classList.add('sure');
      b.textContent = 'press again to roll back';
      this.unsure = setTimeout(() => this.calm(), 4000);
      return;
    }
    this.calm();
    b.disabled = true;
    set('reply', 'asking the learner …');
    if (!this.ask({ ask: 'rollback' })) this.reply({ ok: false, text: 'no token was given' });
  }

  calm() {
    clearTimeout(this.unsure);
    $('rollback').classList.remove('sure');
    $('rollback').textContent = 'roll back';
  }

  reply(m) {
    $('rollback').disabled = false;
    set('reply', (m.ok ? '' : 'not done: ') + m.text);
    if (m.ask === 'name' && m.ok) $('name').value = '';
  }

  tell(world) {
    this.tellCondition(world);
    this.tellLearner(world.status.learner);
    this.tellBundles(world);
    this.tellHealth(world.status.health);
    const l = world.status.latency;
    set('quantiles', l.count ? `median ${seconds(l.p50)} · 99 % ${seconds(l.p99)} · longest ${seconds(l.max)}` : 'nothing measured yet');
    const rate = world.status.health.find((f) => f.name.endsWith('policy_controller: latency'));
    const own = Object.fromEntries(rate?.values ?? []), ms = (key) => seconds(Number(own[key]) / 1000);
    set('loop', own['p50 (ms)'] ? `in the controller, to the command: median ${ms('p50 (ms)')} · 99 % ${ms('p99 (ms)')}` : '');
  }

  tellCondition(world) {
    const { condition } = world.status;
    set('condition', condition ? condition.message : '');
    const all = condition?.all ?? [];
    $('conditions').replaceChildren(...all.map((k) => {
      const li = tag('li', '', k.id === condition.id ? 'here' : ''), dot = tag('i');
      dot.style.background = series(k.id).colour;
      li.append(dot, `${k.name || `condition ${k.id}`} · ${k.visits}×`);
      return li;
    }));
    $('name-form').hidden = !(world.controls && condition?.id);
  }

  tellLearner(l) {
    set('phase', l ? l.phase : 'not heard');
    $('phase').className = 'badge small ' + (l && l.age < 3600 ? 'good' : '');
    $('progress').value = l?.progress ?? 0;
    set('message', l?.message ?? 'No background learner has said anything yet.');
    set('learned', l ? `${l.transitions.toLocaleString('en')} transitions · ${(l.transitions * 0.02 / 60).toFixed(1)} min of flight · said ${ago(l.age)}` : '');
  }

  tellBundles(world) {
    const { bundles } = world, flies = world.row < 0 ? -1 : world.history.get(world.row, AT.bundle);
    const key = JSON.stringify([bundles.length, flies, bundles.at(-1)]);
    $('rollback').hidden = !world.controls || !world.status.learner;
    if (key === this.shown) return;
    this.shown = key;
    $('bundles').replaceChildren(...bundles.map((b, i) => {
      const li = tag('li', '', i === flies ? 'flies' : '');
      li.append(tag('code', short(b.id)), tag('small', b.published ? b.task : 'flown, not published'), tag('small', new Date(b.came).toLocaleTimeString('en-GB')));
      li.append(tag('small', [i === flies ? 'flies' : '', scores(b.metrics), b.parent ? `after ${short(b.parent)}` : ''].filter(Boolean).join(' · '), 'wide'));
      li.title = b.id;
      return li;
    }).reverse());
  }

  tellHealth(all) {
    const wrong = all.filter((f) => f.level > 0), words = ['', 'warning', 'error', 'silent'];
    const worst = wrong.reduce((m, f) => Math.max(m, f.level === 3 ? 1.5 : f.level), 0);
    set('overall', wrong.length ? `${wrong.length} ${wrong.length > 1 ? 'findings' : words[wrong[0].level]}` : all.length ? 'all is well' : 'no diagnostics');
    $('overall').className = 'badge ' + (worst >= 2 ? 'bad' : worst > 0 ? 'fair' : all.length ? 'good' : '');
    set('well', all.length ? `${all.length - wrong.length} of ${all.length} tasks of the nodes are well` : '/diagnostics is silent');
    const order = [...all].sort((a, b) => (b.level === 3 ? 1.5 : b.level) - (a.level === 3 ? 1.5 : a.level) || a.name.localeCompare(b.name));
    const key = JSON.stringify(order.map((f) => [f.name, f.level, f.message]));
    if (key === this.told) return;
    this.told = key;
    const item = (f) => {
      const li = tag('li', '', `l${f.level}`), text = tag('span');
      text.append(tag('b', f.name), ` ${f.message}`);
      li.append(tag('i'), text);
      li.title = f.values.map(([k, v]) => `${k}: ${v}`).join('\n');
      return li;
    };
    $('findings').replaceChildren(...order.filter((f) => f.level).map(item));
    $('fine').replaceChildren(...order.filter((f) => !f.level).map(item));
  }

  draw(world) {
    this.drawPlane(world);
    this.drawLosses(world.status.learner?.losses ?? [], world.status.learner?.loss);
    this.drawLatency(world.status.latency);
  }

  // drawPlane is the map of the latents of the bundle that flies.
  drawPlane(world) {
    const c = this.plane.clear(), { width, height } = this.plane, { plane, condition: told } = world.status, { history, row } = world;
    c.font = font(11);
    c.fillStyle = colours.soft;
    if (!plane || row < 0) {
      c.fillText('no latents yet', 4, height / 2);
      return;
    }
    const size = plane.mean.length, unit = Math.min(width / 6.5, height / 5);
    const place = (i) => {
      let x = 0, y = 0;
      for (let k = 0; k < size; k++) {
        const d = history.get(i, world.latentAt + k) - plane.mean[k];
        x += d * plane.axes[0][k];
        y += d * plane.axes[1][k];
      }
      const fit = (v, end) => Math.min(Math.max(v, 4), end - 4);
      return [fit(width / 2 + x / plane.scale * unit, width), fit(height / 2 - y / plane.scale * unit, height)];
    };
    const here = (i) => history.get(i, AT.bundle) === plane.bundle && history.get(i, AT.z) === size;
    const step = Math.max(1, Math.floor((row - history.start) / 1500));
    for (let i = history.start; i <= row; i += step) {
      if (!here(i)) continue;
      const [x, y] = place(i), known = history.get(i, AT.condition);
      c.fillStyle = known ? rgba(series(known).colour, 0.28) : told ? rgba(colours.soft, 0.2) : mix(colours.blue, colours.red, history.get(i, AT.novelty), 0.28);
      c.fillRect(x - 1.5, y - 1.5, 3, 3);
    }
    if (here(row)) {
      c.beginPath();
      for (let i = Math.max(row - 50, history.start); i <= row; i++) if (here(i)) c.lineTo(...place(i));
      c.strokeStyle = rgba(colours.ink, 0.7);
      c.lineWidth = 1.2;
      c.stroke();
      c.beginPath();
      c.arc(...place(row), 4.5, 0, 7);
      c.fillStyle = colours.orange;
      c.fill();
    }
    c.fillStyle = colours.soft;
    c.fillText(`latent map: ${(100 * plane.share[0]).toFixed(0)} % → and ${(100 * plane.share[1]).toFixed(0)} % ↑ of the variance`, 4, height - 4);
  }

  drawLosses(all, newest) {
    const c = this.losses.clear(), { width, height } = this.losses;
    const good = all.filter((v) => v > 0);
    if (good.length < 2) return;
    const lo = Math.log(Math.min(...good)), hi = Math.log(Math.max(...good)) + 1e-9;
    c.beginPath();
    all.forEach((v, i) => { if (v > 0) c.lineTo(2 + i / (all.length - 1) * (width - 4), height - 4 - (Math.log(v) - lo) / (hi - lo) * (height - 18)); });
    c.strokeStyle = colours.orange;
    c.lineWidth = 1.5;
    c.stroke();
    c.font = font(11);
    c.fillStyle = colours.soft;
    c.textAlign = 'right';
    c.fillText(`loss ${newest.toPrecision(3)}`, width - 2, 11);
    c.textAlign = 'left';
  }

  drawLatency(l) {
    const c = this.latency.clear(), { width, height } = this.latency, n = l.buckets.length, bottom = height - 16;
    const most = Math.max(...l.buckets, 1), w = width / n;
    c.font = font(10.5);
    c.textAlign = 'center';
    for (let i = 0; i < n; i++) {
      const h = l.buckets[i] ? Math.max(l.buckets[i] / most * (bottom - 8), 2) : 0;
      c.fillStyle = l.edges[i] > 0.02 ? colours.red : l.edges[i] > 0.005 ? colours.orange : colours.blue; // 0.02 s is a tick
      c.fillRect(i * w + 1, bottom - h, Math.max(w - 2, 1), h);
      if ((i + 1) % 5 === 0 && i + 1 < n) {
        c.fillStyle = colours.soft;
        c.fillText(seconds(Number(l.edges[i].toPrecision(2))).replace('.00', '').replace('.0', ''), (i + 1) * w, height - 3);
        c.fillRect((i + 1) * w - 0.5, bottom, 1, 3);
      }
    }
    c.textAlign = 'left';
    c.fillStyle = colours.line;
    c.fillRect(0, bottom, width, 1);
  }
}

export function ago(s) {
  if (s < 2) return 'just now';
  return s < 120 ? `${s.toFixed(0)} s ago` : `${(s / 60).toFixed(0)} min ago`;
}

// scores are the figures of a bundle's metrics that fit on a line.
function scores(metrics) {
  if (!metrics) return '';
  const out = [], { round, training } = metrics;
  if (round?.round) out.push(`round ${round.round}`);
  const rows = round?.rows ?? training?.rows;
  if (rows) out.push(`${rows.toLocaleString('en')} rows`);
  const error = round?.trial?.error;
  if (Number.isFinite(error)) out.push(`trial ${(1000 * error).toFixed(0)} mm`);
  return out.join(' · ');
}
