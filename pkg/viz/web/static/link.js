// The connection to the visualizer: it is made again for as long as the page is open.

export class Link {
  constructor(on) {
    this.on = on; // by kind of message; rows for binary ones, open and closed
    this.wait = 500; // ms
    this.open();
  }

  open() {
    const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
    this.socket = new WebSocket(`${scheme}//${location.host}/live`);
    this.socket.binaryType = 'arraybuffer';
    this.socket.onopen = () => { this.wait = 500; this.on.open(); };
    this.socket.onmessage = (event) => {
      if (event.data instanceof ArrayBuffer) return this.on.rows(event.data);
      const m = JSON.parse(event.data);
      this.on[m.kind]?.(m);
    };
    this.socket.onclose = () => {
      this.on.closed();
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(2 * this.wait, 5000);
    };
  }

  ask(what) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(what));
  }
}
