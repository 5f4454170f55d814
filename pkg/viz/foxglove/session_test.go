package foxglove

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// bus is a graph that a test plays.
type bus struct {
	mu       sync.Mutex
	topics   map[string]string
	takes    map[string]func([]byte, int64)
	closed   int
	services map[string]string
}

func (b *bus) Topics() map[string]string { return b.copied(&b.topics) }

func (b *bus) Services() map[string]string { return b.copied(&b.services) }

func (b *bus) copied(m *map[string]string) map[string]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := map[string]string{}
	for name, t := range *m {
		all[name] = t
	}
	return all
}

type closer func()

func (c closer) Close() error { c(); return nil }

func (b *bus) Subscribe(topic, _ string, take func([]byte, int64)) (io.Closer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.takes[topic] = take
	return closer(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.closed++
		delete(b.takes, topic)
	}), nil
}

func (b *bus) Call(_ context.Context, service, _ string, request []byte) ([]byte, error) {
	if service == "/quad/refuses" {
		return nil, errors.New("the robot flies")
	}
	return append([]byte("answer to "), request...), nil
}

func (b *bus) take(topic string) func([]byte, int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.takes[topic]
}

func (b *bus) set(topics map[string]string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.topics = topics
}

// client is a client of a session.
type client struct {
	t   *testing.T
	ctx context.Context
	c   *websocket.Conn
}

func dial(t *testing.T, b *bus, acts bool) *client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: Subprotocols})
		if err == nil {
			_ = Serve(r.Context(), c, "quad", b, acts)
			_ = c.CloseNow()
		}
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	c, _, err := websocket.Dial(ctx, server.URL, &websocket.DialOptions{Subprotocols: []string{"x", "foxglove.sdk.v1"}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Subprotocol() != "foxglove.sdk.v1" {
		t.Fatalf("subprotocol %q", c.Subprotocol())
	}
	c.SetReadLimit(1 << 26)
	t.Cleanup(func() { _ = c.CloseNow() })
	return &client{t, ctx, c}
}

func (c *client) ask(text string) {
	c.t.Helper()
	if err := c.c.Write(c.ctx, websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// next is the next message with an op; binary messages have none.
func (c *client) next(op string) map[string]any {
	c.t.Helper()
	for {
		kind, data, err := c.c.Read(c.ctx)
		if err != nil {
			c.t.Fatalf("%s: %v", op, err)
		}
		if kind == websocket.MessageBinary {
			if op == "" {
				return map[string]any{"data": data}
			}
			continue
		}
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			c.t.Fatal(err)
		}
		if m["op"] == op {
			return m
		}
	}
}

func list(m map[string]any, name string) []any { all, _ := m[name].([]any); return all }

func newBus() *bus {
	return &bus{takes: map[string]func([]byte, int64){},
		topics: map[string]string{"/tf": "tf2_msgs/msg/TFMessage", "/odd": "lab_msgs/msg/Odd"},
		services: map[string]string{"/quad/land": "std_srvs/srv/Trigger", "/quad/refuses": "std_srvs/srv/Trigger",
			"/odd": "lab_msgs/srv/Odd"}}
}

// Topics are shown with their schemas, come with their time, and go again.
func TestShowsTopics(t *testing.T) {
	b := newBus()
	c := dial(t, b, false)
	if info := c.next("serverInfo"); info["name"] != "quad" || len(list(info, "capabilities")) > 0 {
		t.Errorf("%v", info)
	}
	all := list(c.next("advertise"), "channels")
	if len(all) != 1 {
		t.Fatalf("%v", all)
	}
	ch := all[0].(map[string]any)
	if ch["topic"] != "/tf" || ch["encoding"] != "cdr" || ch["schemaEncoding"] != "ros2msg" ||
		ch["schemaName"] != "tf2_msgs/msg/TFMessage" ||
		!strings.Contains(ch["schema"].(string), "MSG: geometry_msgs/TransformStamped") {
		t.Errorf("%v", ch)
	}
	c.ask(`{"op": "subscribe", "subscriptions": [{"id": 7, "channelId": 1}, {"id": 8, "channelId": 99}]}`)
	if s := c.next("status"); s["message"] != "channel 99: there is none" {
		t.Errorf("%v", s)
	}
	c.ask(`{"op": "subscribe", "subscriptions": [{"id": 8, "channelId": 1}]}`)
	if s := c.next("status"); s["message"] != "channel 1: it is subscribed to already" {
		t.Errorf("%v", s)
	}
	b.take("/tf")([]byte{0, 1, 0, 0, 42}, 5)
	want := append([]byte{1, 7, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0}, 0, 1, 0, 0, 42)
	if got := c.next("")["data"].([]byte); !bytes.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
	b.set(map[string]string{"/quad/step": "vnd/msg/Step"})
	if gone := list(c.next("unadvertise"), "channelIds"); len(gone) != 1 || gone[0] != 1. || b.take("/tf") != nil {
		t.Errorf("%v", gone)
	}
	if all := list(c.next("advertise"), "channels"); all[0].(map[string]any)["id"] != 2. {
		t.Errorf("%v", all)
	}
	c.ask(`{"op": "subscribe", "subscriptions": [{"id": 7, "channelId": 2}]}`)
	c.ask(`{"op": "unsubscribe", "subscriptionIds": [7, 9]}`)
	c.ask(`{"op": "advertise", "channels": [{"id": 1, "topic": "/cmd", "encoding": "cdr", "schemaName": "x"}]}`)
	if s := c.next("status"); !strings.Contains(s["message"].(string), `"advertise" is refused`) ||
		b.take("/quad/step") != nil {
		t.Errorf("%v", s)
	}
}

// Services are called by whoever may act, and by nobody else.
func TestCallsServices(t *testing.T) {
	ask := func(c *client, service, number uint32, encoding string) {
		m := []byte{2}
		for _, n := range []uint32{service, number, uint32(len(encoding))} {
			m = binary.LittleEndian.AppendUint32(m, n)
		}
		if err := c.c.Write(c.ctx, websocket.MessageBinary, append(append(m, encoding...), "abc"...)); err != nil {
			t.Fatal(err)
		}
	}
	c := dial(t, newBus(), true)
	if info := c.next("serverInfo"); len(list(info, "capabilities")) != 1 {
		t.Errorf("%v", info)
	}
	all := list(c.next("advertiseServices"), "services")
	if len(all) != 2 {
		t.Fatalf("%v", all)
	}
	land := all[0].(map[string]any)
	response := land["response"].(map[string]any)
	if land["name"] != "/quad/land" || land["type"] != "std_srvs/srv/Trigger" ||
		response["schemaName"] != "std_srvs/srv/Trigger_Response" ||
		!strings.Contains(response["schema"].(string), "bool") {
		t.Errorf("%v", land)
	}
	ask(c, 2, 5, "cdr")
	got := c.next("")["data"].([]byte)
	if want := "\x03\x02\x00\x00\x00\x05\x00\x00\x00\x03\x00\x00\x00cdranswer to abc"; string(got) != want {
		t.Errorf("%q, expected %q", got, want)
	}
	ask(c, 3, 6, "cdr")
	f := c.next("serviceCallFailure")
	if f["message"] != "the robot flies" || f["callId"] != 6. || f["serviceId"] != 3. {
		t.Errorf("%v", f)
	}
	ask(c, 2, 7, "json")
	if s := c.next("status"); !strings.Contains(s["message"].(string), "encoding of a call is not cdr") {
		t.Errorf("%v", s)
	}
	c = dial(t, newBus(), false)
	ask(c, 2, 5, "cdr")
	if f := c.next("serviceCallFailure"); !strings.Contains(f["message"].(string), "no right to call it") {
		t.Errorf("%v", f)
	}
}

// A client that does not keep up loses messages and is told, and whoever publishes never waits.
func TestSlowClientLosesMessages(t *testing.T) {
	q := newQueue()
	big := frame{binary: true, data: make([]byte, mostWaiting/4)}
	for range 6 {
		q.put(big, true)
	}
	q.put(frame{data: make([]byte, mostWaiting)}, false) // an answer goes out all the same
	if n := q.lost(); n != 2 {
		t.Errorf("%d lost", n)
	}
	n := 0
	for _, ok := q.take(); ok; _, ok = q.take() {
		n++
	}
	if n != 5 || q.bytes != 0 || q.lost() != 0 {
		t.Errorf("%d frames, %d bytes", n, q.bytes)
	}
	b := newBus()
	c := dial(t, b, false)
	c.next("advertise")
	c.ask(`{"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 1}]}`)
	c.ask(`{"op": "nothing"}`)
	c.next("status") // it is subscribed
	for range 20 {
		b.take("/tf")(big.data, 1)
	}
	if s := c.next("status"); !strings.Contains(s["message"].(string), "messages were dropped") || s["level"] != 1. {
		t.Errorf("%v", s)
	}
}

func TestWanted(t *testing.T) {
	for header, want := range map[string]bool{"": false, "foxglove.sdk.v1": true, "a, foxglove.websocket.v1": true,
		"foxglove.sdk.v2": false} {
		if Wanted([]string{header}) != want {
			t.Errorf("%q", header)
		}
	}
}
