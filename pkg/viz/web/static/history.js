// The last minutes of rows, as the visualizer sends them.

const RATE = 50; // Hz, at most

// Places of a row's words.
export const AT = { p: 1, q: 4, v: 8, goal: 11, thrust: 14, rates: 15, residual: 18, stage: 21, confidence: 22, novelty: 23, bundle: 24, z: 25, condition: 26 };

export class History {
  constructor(words, seconds) {
    this.words = words;
    this.seconds = seconds;
    this.room = 2 * RATE * (seconds + 10);
    this.data = new Float32Array(this.room * words);
    this.times = new Uint32Array(this.data.buffer);
    this.start = 0; // first row that counts
    this.end = 0;   // one after the last
  }

  get size() { return this.end - this.start; }

  // take appends the rows of a message.
  take(buffer) {
    const rows = new Float32Array(buffer);
    const n = rows.length / this.words;
    if (this.end + n > this.room) {
      this.data.copyWithin(0, this.start * this.words, this.end * this.words);
      this.end -= this.start;
      this.start = 0;
    }
    new Uint8Array(this.data.buffer).set(new Uint8Array(buffer), this.end * this.words * 4);
    this.end += n;
    const oldest = this.time(this.end - 1) - 1000 * this.seconds;
    while (this.start < this.end && this.time(this.start) < oldest) this.start++;
  }

  // time of row i, ms since the first row of the flight.
  time(i) { return this.times[i * this.words]; }

  get now() { return this.end ? this.time(this.end - 1) : 0; }

  get(i, word) { return this.data[i * this.words + word]; }

  vec(i, word) {
    const k = i * this.words + word;
    return [this.data[k], this.data[k + 1], this.data[k + 2]];
  }

  // from is the first row at or after a time.
  from(t) {
    let lo = this.start, hi = this.end;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (this.time(mid) < t) lo = mid + 1; else hi = mid;
    }
    return lo;
  }

  // near is the row nearest to a time; −1 where there is none.
  near(t) {
    if (!this.size) return -1;
    const i = Math.min(this.from(t), this.end - 1);
    return i > this.start && t - this.time(i - 1) < this.time(i) - t ? i - 1 : i;
  }

  // error to the reference, m.
  error(i) {
    const k = i * this.words, d = this.data;
    return Math.hypot(d[k + 1] - d[k + 11], d[k + 2] - d[k + 12], d[k + 3] - d[k + 13]);
  }
}
