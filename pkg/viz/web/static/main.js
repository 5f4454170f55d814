// The page: what came, and when it is drawn.

import { AT, History } from './history.js';
import { Link } from './link.js';
import { LAYERS, Space } from './space.js';
import { Plots } from './plots.js';
import { Cards, set, short, tag } from './cards.js';
import { colours, metres } from './draw.js';

const $ = (id) => document.getElementById(id);
const MINUTES = 300; // s of history
const QUIET = 1500;  // ms without a step
const STAGE = { policy: 0, limited: 1, hold: 2, land: 3, blind: 4, off: 5, notOffboard: 6 }; // GUARD constants of Step.msg
const guardFlies = (stage) => stage === STAGE.hold || stage === STAGE.land || stage === STAGE.blind;

const nothing = { task: '', learner: null, condition: null, health: [], latency: { count: 0, edges: [], buckets: [] }, plane: null, steps: 0, lost: 0 };
const world = {
  history: new History(1, MINUTES), path: [], imagined: [], status: nothing, bundles: [], stages: [], controls: false, latentAt: 0,
  span: 60, until: 0, at: 0, row: -1,
};
// counts are for whoever measures the page.
const counts = window.vnd = { frames: 0, first: 0, bytes: 0, rows: 0, world };

let dirty = true, held = null, heard = 0, linked = false, steps = [];
const changed = () => { dirty = true; };

const space = new Space($('space'), changed);
const plots = new Plots($('plots'), changed);
const cards = new Cards((what) => link.ask(what, world.token), changed);

const link = new Link({
  open() { linked = true; changed(); },
  closed() { linked = false; changed(); },
  hello(m) {
    world.history = new History(m.words, MINUTES);
    Object.assign(world, { imagined: [], status: nothing, path: [], bundles: [], stages: m.stages, controls: m.controls, token: m.token, latentAt: m.latent_at });
    held = null;
    press($('pause'), false);
    document.title = `${m.robot} · vnd`;
    set('robot', m.robot);
    changed();
  },
  rows(buffer) {
    world.history.take(buffer);
    heard = performance.now();
    counts.bytes += buffer.byteLength;
    counts.rows = world.history.size;
    changed();
  },
  reference(m) { world.path = m.path; space.frame(m.path); changed(); },
  bundles(m) { world.bundles = m.bundles; changed(); },
  imagined(m) {
    world.imagined.push(m);
    const old = world.imagined.length - 12; // whose paths nobody sees any more
    if (old >= 0) delete world.imagined[old].model;
    while (world.imagined[0].end < world.history.now - 1000 * MINUTES) world.imagined.shift();
    changed();
  },
  status(m) {
    world.status = m;
    steps.push([performance.now(), m.steps]);
    if (steps.length > 7) steps.shift();
    told();
    changed();
  },
  reply(m) {
    if (m.token) link.token = '';
    cards.reply(m);
  },
});

// told writes what changes a few times a second.
function told() {
  look();
  cards.tell(world);
  set('task', world.status.task);
  const [t, n] = steps[0], rate = steps.length > 1 ? 1000 * (world.status.steps - n) / (performance.now() - t) : NaN;
  set('rate', Number.isFinite(rate) ? `${rate.toFixed(0)} Hz${world.status.lost ? `, ${world.status.lost} lost` : ''}` : '–');
  const last = world.imagined[world.imagined.length - 1];
  set('ahead', last ? metres(last.model_error) : '–');
}

// look chooses the moment that is shown.
function look() {
  world.until = held ?? world.history.now;
  plots.show(world.until, world.span);
  world.at = plots.pointed() ?? world.until;
  world.row = world.history.near(world.at);
}

function headline() {
  const { row, history } = world, badge = $('guard');
  const stage = row < 0 ? -1 : history.get(row, AT.stage);
  set('guard', row < 0 ? (linked ? 'waiting for steps' : 'connecting') : `guard: ${world.stages[stage] ?? stage}`);
  badge.className = 'badge ' + (stage === STAGE.policy ? 'good' : stage === STAGE.limited ? 'fair' : guardFlies(stage) ? 'bad' : '');
  set('error', row < 0 ? '–' : metres(history.error(row)));
  const novelty = row < 0 ? NaN : history.get(row, AT.novelty);
  set('novelty', Number.isFinite(novelty) ? novelty.toFixed(2) : '–');
  const bundle = row < 0 ? undefined : world.bundles[history.get(row, AT.bundle)];
  set('flies', bundle ? short(bundle.id) : '–');
  const back = (world.history.now - world.at) / 1000;
  const past = row >= 0 && back > 0.1;
  set('when', past ? `${back.toFixed(1)} s ago` : 'arrows: 1 g is 0.5 m');
  $('when').classList.toggle('past', past);
  alarm(stage);
}

function alarm(stage) {
  const quiet = performance.now() - heard;
  let text = '';
  if (!linked) text = 'No connection to the visualizer: what is shown is old.';
  else if (world.row >= 0 && quiet > QUIET) text = `No step for ${(quiet / 1000).toFixed(0)} s: what is shown is old.`;
  else if (guardFlies(stage)) {
    const said = world.status.health.find((f) => f.name.endsWith('policy_controller: control'));
    text = said && said.level >= 2 ? said.message : `The guard is in charge: ${world.stages[stage]}.`;
  }
  set('alarm', text);
  $('alarm').hidden = !text;
}

function draw() {
  look();
  headline();
  space.draw(world);
  plots.draw(world);
  cards.draw(world);
  counts.frames++;
  if (!counts.first && world.row >= 0) counts.first = performance.now();
}
counts.draw = draw;

function frame() {
  requestAnimationFrame(frame);
  if (!dirty) return;
  dirty = false;
  draw();
}

function press(button, on) { button.setAttribute('aria-pressed', String(on)); }

for (const b of document.querySelectorAll('[data-span]')) {
  b.addEventListener('click', () => {
    world.span = Number(b.dataset.span);
    for (const other of document.querySelectorAll('[data-span]')) press(other, other === b);
    changed();
  });
}
$('pause').addEventListener('click', () => {
  held = held === null ? world.history.now : null;
  press($('pause'), held !== null);
  changed();
});
for (const b of $('camera').children) {
  b.addEventListener('click', () => {
    space.look(b.dataset.view);
    press($('camera').children[0], space.follow);
  });
}
for (const [key, name, colour] of LAYERS) {
  const b = tag('button'), mark = tag('i');
  mark.style.background = colours[colour];
  b.append(mark, name);
  press(b, true);
  b.addEventListener('click', () => { space.on[key] = !space.on[key]; press(b, space.on[key]); changed(); });
  $('layers').append(b);
}
setInterval(changed, 500); // ages go on where nothing comes
frame();
