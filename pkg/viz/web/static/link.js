// The connection to the visualizer: it is made again for as long as the page is open.

export class Link {
  constructor(on) {
    this.on = on; // by kind of message; rows for binary ones, open and closed
    this.wait = 500; // ms
    this.token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
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

  // ask sends what is to be done, with the token where one is needed; false where nobody gave it.
  ask(what, needsToken) {
    if (needsToken && !this.token) this.token = prompt('Token of this page (the visualizer\u2019s log has it):') ?? '';
    if (needsToken && !this.token) return false;
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ ...what, token: this.token }));
    return true;
  }
}
