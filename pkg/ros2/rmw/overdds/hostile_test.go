package overdds

import (
	"bytes"
	"testing"
	"time"

	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw"
)

// plainClient is a client of /drone1/arm on plain DDS.
type plainClient struct {
	t       testing.TB
	p       dds.Participant
	request dds.Writer
	reply   dds.Reader
}

var (
	requestTopic = dds.Topic{Name: "rq/drone1/armRequest", Type: "std_srvs::srv::dds_::SetBool_Request_"}
	replyTopic   = dds.Topic{Name: "rr/drone1/armReply", Type: "std_srvs::srv::dds_::SetBool_Response_"}
)

func newPlainClient(t testing.TB, d *inproc.Domain, userData string) *plainClient {
	t.Helper()
	c := &plainClient{t: t, p: d.Open(nil)}
	t.Cleanup(func() { c.p.Close() })
	q := rmw.ServicesQoS()
	q.UserData = []byte(userData)
	var err error
	if c.request, err = c.p.NewWriter(requestTopic, q, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// listen opens the client's reader.
func (c *plainClient) listen(userData string) {
	c.t.Helper()
	q := rmw.ServicesQoS()
	q.UserData = []byte(userData)
	var err error
	if c.reply, err = c.p.NewReader(replyTopic, q, c); err != nil {
		c.t.Fatal(err)
	}
}

func (c *plainClient) send(sample []byte) {
	c.t.Helper()
	if err := c.request.Write(sample, 0); err != nil {
		c.t.Fatal(err)
	}
}

func (c *plainClient) id(sequence int64) rmw.RequestID {
	return rmw.RequestID{Client: c.request.Handle(), Sequence: sequence}
}

// await returns the next response.
func (c *plainClient) await() []byte {
	c.t.Helper()
	var got []byte
	for end := time.Now().Add(30 * time.Second); got == nil; {
		if time.Now().After(end) {
			c.t.Fatal("no response")
		}
		if _, err := c.reply.Take(1, func(s *dds.Sample) { got = bytes.Clone(s.Data) }); err != nil {
			c.t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	return got
}

func encode(t testing.TB, m cdr.Message) []byte {
	t.Helper()
	b, err := cdr.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func armServer(t testing.TB, d *inproc.Domain, timeout time.Duration) *server {
	t.Helper()
	n, err := join(t, d, "").NewNode("/", "server")
	if err != nil {
		t.Fatal(err)
	}
	s, err := n.NewServer(armed, rmw.ServicesQoS(), t)
	if err != nil {
		t.Fatal(err)
	}
	s.(*server).matchTimeout = timeout
	return s.(*server)
}

// queued counts the responses in the queue.
func queued(s *server) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue)
}

// echo answers n requests.
func echo(t testing.TB, s *server, n int, response []byte) {
	t.Helper()
	var ids []rmw.RequestID
	if got, err := s.Take(100, func(id rmw.RequestID, _ *dds.Sample) { ids = append(ids, id) }); got != n ||
		err != nil {
		t.Fatalf("%d requests, %v, want %d", got, err, n)
	}
	for _, id := range ids {
		if err := s.Respond(id, response); err != nil {
			t.Fatal(err)
		}
	}
}

// TestResponseWaits: a response waits for its client's reader, which has the clientid of the
// request's writer. Respond does not block.
func TestResponseWaits(t *testing.T) {
	d := inproc.NewDomain()
	s := armServer(t, d, time.Hour)
	ask, reply := encode(t, &stdsrvs.SetBoolRequest{Data: true}), encode(t, &stdsrvs.SetBoolResponse{Message: "armed"})
	c := newPlainClient(t, d, "clientid= 1.2;")
	other := newPlainClient(t, d, "clientid= 3.4;")
	other.listen("clientid= 3.4;")
	request, _ := wrap(nil, c.id(7), ask)
	c.send(request)
	echo(t, s, 1, reply)
	if n := queued(s); n != 1 {
		t.Fatalf("%d responses wait, want 1", n)
	}
	// Another client gets its response at once.
	request, _ = wrap(nil, other.id(1), ask)
	other.send(request)
	echo(t, s, 1, reply)
	if id, message, _ := unwrap(nil, other.await()); id != other.id(1) || !bytes.Equal(message, reply) {
		t.Errorf("%v, % x", id, message)
	}
	c.listen("clientid= 1.2;typehash=whatever;")
	if id, message, _ := unwrap(nil, c.await()); id != c.id(7) || !bytes.Equal(message, reply) {
		t.Errorf("%v, % x", id, message)
	}
}

// TestResponseWaitsNotForever: after its time, or with a full queue, a response is sent although
// no reader is matched. Close does not wait for it.
func TestResponseWaitsNotForever(t *testing.T) {
	d := inproc.NewDomain()
	s := armServer(t, d, time.Millisecond)
	ask, reply := encode(t, &stdsrvs.SetBoolRequest{}), encode(t, &stdsrvs.SetBoolResponse{})
	c := newPlainClient(t, d, "clientid=a;")
	c.listen("clientid=b;") // would never do
	request, _ := wrap(nil, c.id(1), ask)
	c.send(request)
	echo(t, s, 1, reply)
	c.await()

	s.matchTimeout = time.Hour
	for i := range maxQueued + 1 {
		request, _ := wrap(nil, c.id(int64(i)), ask)
		c.send(request)
		echo(t, s, 1, reply)
	}
	if id, _, _ := unwrap(nil, c.await()); id != c.id(maxQueued) || queued(s) != maxQueued {
		t.Errorf("%v came first, %d wait", id, queued(s))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestClientsWithoutID: plain programs have no clientid and are answered at once.
func TestClientsWithoutID(t *testing.T) {
	d := inproc.NewDomain()
	s := armServer(t, d, time.Hour)
	for _, userData := range []string{"", "something else"} {
		c := newPlainClient(t, d, userData)
		c.listen(userData)
		request, _ := wrap(nil, c.id(1), encode(t, &stdsrvs.SetBoolRequest{}))
		c.send(request)
		echo(t, s, 1, encode(t, &stdsrvs.SetBoolResponse{}))
		c.await()
	}
}

// TestHostileRequests: malformed requests are skipped, do not count, and do not hide later ones.
func TestHostileRequests(t *testing.T) {
	d := inproc.NewDomain()
	s := armServer(t, d, time.Hour)
	c := newPlainClient(t, d, "")
	c.listen("")
	good, _ := wrap(nil, c.id(1), encode(t, &stdsrvs.SetBoolRequest{Data: true}))
	for n := 4; n < headerSize; n++ {
		c.send(good[:n])
		if n%5 == 0 { // keep last 10
			echo(t, s, 0, nil)
		}
	}
	c.send([]byte{0, 7, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0, 0, 0, 0, 0, 0, 0, 1})
	c.send(good)
	var got []byte
	if n, err := s.Take(1, func(_ rmw.RequestID, r *dds.Sample) { got = bytes.Clone(r.Data) }); n != 1 || err != nil ||
		!bytes.Equal(got[:5], []byte{0, 1, 0, 0, 1}) {
		t.Errorf("%d requests, %v: % x", n, err, got)
	}
	for i := range 3 * maxClients { // handles made up
		id := rmw.RequestID{Client: uint64(i), Sequence: -1}
		request, _ := wrap(nil, id, []byte{0, 0, 0, 0, 1})
		c.send(request)
		echo(t, s, 1, []byte{0, 0, 0, 0, 1})
		if len(s.clients) > maxClients {
			t.Fatalf("%d clients are kept", len(s.clients))
		}
	}
}

// TestHostileResponses: a client ignores malformed responses and those to others.
func TestHostileResponses(t *testing.T) {
	d := inproc.NewDomain()
	n, err := join(t, d, "").NewNode("/", "client")
	if err != nil {
		t.Fatal(err)
	}
	c, err := n.NewClient(armed, rmw.ServicesQoS(), t)
	if err != nil {
		t.Fatal(err)
	}
	p := d.Open(nil)
	defer p.Close()
	w, err := p.NewWriter(replyTopic, rmw.ServicesQoS(), t)
	if err != nil {
		t.Fatal(err)
	}
	if c.Available() {
		t.Error("available with half a server")
	}
	if _, err := p.NewReader(requestTopic, rmw.ServicesQoS(), t); err != nil {
		t.Fatal(err)
	}
	if !c.Available() {
		t.Error("a server without id does not count")
	}
	q := rmw.ServicesQoS()
	q.UserData = []byte("serviceid=half;")
	if _, err := p.NewReader(requestTopic, q, t); err != nil {
		t.Fatal(err)
	}
	if c.Available() {
		t.Error("available, while the only server with an id has no writer")
	}
	body := encode(t, &stdsrvs.SetBoolResponse{Message: "mine"})
	handle := c.(*client).writer.Handle()
	for _, id := range []rmw.RequestID{{Client: handle + 1, Sequence: 1}, {Client: handle, Sequence: 1},
		{Client: 0, Sequence: 1}} {
		for _, cut := range []int{1 << 10, headerSize - 1, 4} {
			sample, _ := wrap(nil, id, body)
			if err := w.Write(sample[:min(cut, len(sample))], 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := 0
	if n, err := c.Take(10, func(sequence int64, s *dds.Sample) {
		got++
		if sequence != 1 || !bytes.Equal(s.Data, body) {
			t.Errorf("response %d: % x", sequence, s.Data)
		}
	}); n != 1 || got != 1 || err != nil {
		t.Errorf("%d responses, %v", n, err)
	}
}

// TestHostileAnnouncements: malformed announcements, and those by another participant, do not
// change the graph.
func TestHostileAnnouncements(t *testing.T) {
	d := inproc.NewDomain()
	c := join(t, d, "")
	if _, err := c.NewNode("/", "mine"); err != nil {
		t.Fatal(err)
	}
	p := d.Open(nil)
	defer p.Close()
	w, err := p.NewWriter(infoTopic, infoWriterQoS(), t)
	if err != nil {
		t.Fatal(err)
	}
	forged, _ := appendInfo(nil, humbleGid, &info{gid: c.GID(), nodes: []nodeInfo{{namespace: "/", name: "forged"}}})
	own, _ := appendInfo(nil, humbleGid, &info{gid: p.GUID(), nodes: []nodeInfo{{namespace: "/", name: "own"}}})
	huge := bytes.Clone(own)
	copy(huge[28:], []byte{0xff, 0xff, 0xff, 0xff})
	for _, sample := range [][]byte{forged, huge, own[:40], {0, 1, 0, 0}, {0, 9, 9, 9, 9},
		append([]byte{0, 1, 0, 0}, bytes.Repeat([]byte{0xff}, 1000)...)} {
		if err := w.Write(sample, 0); err != nil {
			t.Fatal(err)
		}
		if nodes := c.Graph().Nodes(); len(nodes) != 1 || nodes[0].Name != "mine" {
			t.Errorf("% x made nodes %v", sample[:4], nodes)
		}
	}
	if err := w.Write(own, 0); err != nil {
		t.Fatal(err)
	}
	if nodes := c.Graph().Nodes(); len(nodes) != 2 || nodes[1].Name != "own" {
		t.Errorf("nodes %v", nodes)
	}
}
