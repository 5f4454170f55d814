// usage: node foxglove.cjs ADDRESS SUBPROTOCOL: Foxglove's own client and decoders at a visualizer. It subscribes to all
// topics, calls a robot's land when it has seen the vehicle, and prints what it saw as JSON.
const { FoxgloveClient } = require("@foxglove/ws-protocol");
const { parse } = require("@foxglove/rosmsg");
const { MessageReader, MessageWriter } = require("@foxglove/rosmsg2-serialization");
const WebSocket = require("ws");

const [address, subprotocol] = process.argv.slice(2);
const saw = { channels: 0, services: 0, unread: [], vehicle: [] };
const readers = new Map();
let land;

function end(problem) {
  if (problem) saw.unread.push(String(problem));
  process.stdout.write(JSON.stringify(saw), () => process.exit(0));
}

// read takes what a decoder says of a topic or service, and keeps its complaint.
function read(name, decode) {
  try {
    return decode();
  } catch (problem) {
    saw.unread.push(`${name}: ${problem}`);
  }
}

const client = new FoxgloveClient({ ws: new WebSocket(address, [subprotocol]) });
client.on("error", end);
client.on("advertise", (channels) => {
  for (const c of channels) {
    saw.channels++;
    const reader = read(c.topic, () => new MessageReader(parse(c.schema, { ros2: true })));
    if (reader) readers.set(client.subscribe(c.id), { topic: c.topic, reader });
  }
});
client.on("advertiseServices", (services) => {
  for (const s of services) {
    saw.services++;
    const types = read(s.name, () => [s.request, s.response].map((t) => parse(t.schema, { ros2: true })));
    if (types && s.name === "/quad/policy_controller/land") land = { id: s.id, types };
  }
});
client.on("message", ({ subscriptionId, data }) => {
  const { topic, reader } = readers.get(subscriptionId);
  const m = read(topic, () => reader.readMessage(data));
  if (!m || !land || topic !== "/quad/visualizer/vehicle" || saw.vehicle.length > 0) return;
  saw.vehicle = m.markers.map((marker) => marker.ns);
  const request = new MessageWriter(land.types[0]).writeMessage({});
  client.sendServiceCallRequest({ serviceId: land.id, callId: 1, encoding: "cdr",
    data: new DataView(request.buffer, request.byteOffset, request.byteLength) });
});
client.on("serviceCallFailure", (f) => end(f.message));
client.on("serviceCallResponse", ({ data }) => {
  saw.landed = read("land", () => new MessageReader(land.types[1]).readMessage(data));
  end();
});
