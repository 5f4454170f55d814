// Canvases that are as sharp as the screen, and the page's colours.

export const colours = {};

const names = ['ground', 'card', 'line', 'ink', 'soft', 'faint', 'blue', 'orange', 'green', 'red', 'purple', 'yellow', 'deep'];

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const n of names) colours[n] = style.getPropertyValue('--' + n).trim();
}
readColours();
matchMedia('(prefers-color-scheme: light)').addEventListener('change', readColours);

// series are told apart by colour, then by dash.
export function series(i) {
  const all = ['blue', 'orange', 'green', 'red', 'purple', 'yellow', 'soft', 'ink'];
  return { colour: colours[all[i % all.length]], dash: i < all.length ? [] : [4, 3] };
}

export function rgba(hex, alpha) {
  const v = parseInt(hex.slice(1), 16);
  return `rgba(${v >> 16}, ${(v >> 8) & 255}, ${v & 255}, ${alpha})`;
}

// mix goes from a to b.
export function mix(a, b, share, alpha) {
  const s = Math.min(Math.max(share || 0, 0), 1), x = parseInt(a.slice(1), 16), y = parseInt(b.slice(1), 16);
  const c = (shift) => Math.round(((x >> shift) & 255) * (1 - s) + ((y >> shift) & 255) * s);
  return `rgba(${c(16)}, ${c(8)}, ${c(0)}, ${alpha})`;
}

export class Sheet {
  constructor(canvas, resized) {
    this.canvas = canvas;
    this.c = canvas.getContext('2d');
    this.width = this.height = 0; // CSS pixels
    new ResizeObserver(() => { this.fit(); resized(); }).observe(canvas);
    this.fit();
  }

  fit() {
    const dpr = Math.min(window.devicePixelRatio || 1, 2);
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.canvas.width = Math.round(this.width * dpr);
    this.canvas.height = Math.round(this.height * dpr);
    this.c.setTransform(dpr, 0, 0, dpr, 0, 0);
  }

  clear() {
    this.c.clearRect(0, 0, this.width, this.height);
    return this.c;
  }
}

// font of a size in px.
export const font = (size, weight = 400) => `${weight} ${size}px system-ui, "Segoe UI", Roboto, "Liberation Sans", "DejaVu Sans", sans-serif`;

// metres in the unit that reads best.
export function metres(v) {
  if (!Number.isFinite(v)) return '–';
  return v < 0.9995 ? `${(1000 * v).toFixed(0)} mm` : `${v.toFixed(2)} m`;
}

export function seconds(v) {
  if (!Number.isFinite(v)) return '–';
  if (v < 1e-3) return `${(1e6 * v).toFixed(0)} µs`;
  return v < 1 ? `${(1e3 * v).toPrecision(3)} ms` : `${v.toFixed(2)} s`;
}

// nice is the least round number that is no less than v; of fewer digits where it is to be a step.
export function nice(v, step = false) {
  if (!(v > 0)) return 1;
  const p = 10 ** Math.floor(Math.log10(v));
  for (const k of step ? [1, 2, 5] : [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8]) if (k * p >= v * 0.999) return k * p;
  return 10 * p;
}
