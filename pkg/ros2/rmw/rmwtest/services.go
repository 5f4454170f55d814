package rmwtest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

const setBoolType = "std_srvs/srv/SetBool"

var arm = rmw.Service{Name: "/drone1/arm", Type: setBoolType}

func marshal(t testing.TB, m cdr.Message) []byte {
	t.Helper()
	return must(cdr.Marshal(m))(t)
}

func setBool(t testing.TB, v bool) []byte { return marshal(t, &stdsrvs.SetBoolRequest{Data: v}) }

func answer(t testing.TB, format string, args ...any) []byte {
	return marshal(t, &stdsrvs.SetBoolResponse{Success: true, Message: fmt.Sprintf(format, args...)})
}

// serve makes a server and clients that can call it.
func serve(t testing.TB, at *peer, from ...*peer) (rmw.Server, []rmw.Client) {
	t.Helper()
	s := must(at.node("/", "server").NewServer(arm, rmw.ParametersQoS(), "server"))(t)
	var clients []rmw.Client
	for i, p := range from {
		c := must(p.node("/", fmt.Sprint("client", i)).NewClient(arm, rmw.ParametersQoS(), fmt.Sprint("client", i)))(t)
		clients = append(clients, c)
	}
	until(t, "availability", func() bool {
		for _, c := range clients {
			if !c.Available() {
				return false
			}
		}
		return true
	}, append(from, at)...)
	return s, clients
}

// sameMessage compares messages of a type by their fields; padding may differ.
func sameMessage[T any, M interface {
	*T
	cdr.Message
}](t testing.TB, what string, want, got []byte) {
	t.Helper()
	var w, g T
	check(t, cdr.Unmarshal(want, M(&w)))
	check(t, cdr.Unmarshal(got, M(&g)))
	same(t, what, w, g)
}

type request struct {
	id   rmw.RequestID
	body []byte
}

// requests takes n.
func requests(t testing.TB, p *peer, s rmw.Server, n int) []request {
	t.Helper()
	var got []request
	until(t, fmt.Sprintf("%d requests", n), func() bool {
		_ = must(s.Take(n-len(got), func(id rmw.RequestID, r *dds.Sample) {
			got = append(got, request{id, bytes.Clone(r.Data)})
		}))(t)
		return len(got) >= n
	}, p)
	return got
}

// responses takes n, by the number of their requests.
func responses(t testing.TB, p *peer, c rmw.Client, n int) map[int64][]byte {
	t.Helper()
	got := map[int64][]byte{}
	until(t, fmt.Sprintf("%d responses", n), func() bool {
		_ = must(c.Take(n-len(got), func(sequence int64, r *dds.Sample) {
			if got[sequence] != nil {
				t.Errorf("request %d is answered twice", sequence)
			}
			got[sequence] = bytes.Clone(r.Data)
		}))(t)
		return len(got) >= n
	}, p)
	return got
}

// service: calls between two processes and within one.
func service(t *testing.T, o Open) {
	a, b := open(t, o), open(t, o)
	s, clients := serve(t, a, b, a)
	for i, p := range []*peer{b, a} {
		before := int64(0)
		for k := range 2 {
			p.reset()
			a.reset()
			n := must(clients[i].Send(setBool(t, k == 0)))(t)
			if n <= before {
				t.Errorf("a request after %d is called %d", before, n)
			}
			before = n
			until(t, "data of the server", func() bool { return a.data["server"] }, a)
			r := requests(t, a, s, 1)[0]
			sameMessage[stdsrvs.SetBoolRequest](t, "request", setBool(t, k == 0), r.body)
			if r.id.Sequence != n {
				t.Errorf("sequence %d, want %d", r.id.Sequence, n)
			}
			check(t, s.Respond(r.id, answer(t, "armed")))
			until(t, "data of the client", func() bool { return p.data[fmt.Sprint("client", i)] }, p)
			sameMessage[stdsrvs.SetBoolResponse](t, "response", answer(t, "armed"), responses(t, p, clients[i], 1)[n])
		}
	}
}

// anyLength: messages of every length and alignment arrive whole.
func anyLength(t *testing.T, o Open) {
	a, b := open(t, o), open(t, o)
	set := rmw.Service{Name: "/drone1/set_parameters", Type: "rcl_interfaces/srv/SetParameters"}
	s := must(a.node("/", "server").NewServer(set, rmw.ParametersQoS(), "server"))(t)
	c := must(b.node("/", "client").NewClient(set, rmw.ParametersQoS(), "client"))(t)
	until(t, "availability", c.Available, a, b)
	for n := range 9 {
		ask, reply := &rclinterfaces.SetParametersRequest{}, &rclinterfaces.SetParametersResponse{}
		for i := range n {
			name := strings.Repeat("x", n+i)
			value := rclinterfaces.ParameterValue{Type: 3, DoubleValue: float64(i), StringValue: name[:i],
				DoubleArrayValue: make([]float64, i%2)}
			ask.Parameters = append(ask.Parameters, rclinterfaces.Parameter{Name: name, Value: value})
			reply.Results = append(reply.Results, rclinterfaces.SetParametersResult{Successful: i > 0, Reason: name})
		}
		_ = must(c.Send(marshal(t, ask)))(t)
		r := requests(t, a, s, 1)[0]
		sameMessage[rclinterfaces.SetParametersRequest](t, "request", marshal(t, ask), r.body)
		check(t, s.Respond(r.id, marshal(t, reply)))
		for _, got := range responses(t, b, c, 1) {
			sameMessage[rclinterfaces.SetParametersResponse](t, "response", marshal(t, reply), got)
		}
	}
}

// clientsApart: each client gets the responses to its own requests, although all of them
// number theirs alike.
func clientsApart(t *testing.T, o Open) {
	a, b, c := open(t, o), open(t, o), open(t, o)
	const each = 20
	peers := []*peer{b, c, c}
	s, clients := serve(t, a, peers...)
	sent := make([][]int64, len(clients))
	for i, client := range clients {
		for range each {
			sent[i] = append(sent[i], must(client.Send(setBool(t, i == 0)))(t))
		}
	}
	ids := map[string]int{}
	for _, r := range requests(t, a, s, each*len(clients)) {
		id := fmt.Sprintf("%d-%v", r.id.Client, r.id.Endpoint)
		ids[id]++
		check(t, s.Respond(r.id, answer(t, "%d of %s", r.id.Sequence, id)))
	}
	if len(ids) != len(clients) {
		t.Fatalf("requests are of %d clients, want %d", len(ids), len(clients))
	}
	seen := map[string]bool{}
	for i, client := range clients {
		got := responses(t, peers[i], client, each)
		for _, n := range sent[i] {
			var m stdsrvs.SetBoolResponse
			check(t, cdr.Unmarshal(got[n], &m))
			var sequence int64
			var id string
			if _, err := fmt.Sscanf(m.Message, "%d of %s", &sequence, &id); err != nil || sequence != n ||
				ids[id] != each {
				t.Errorf("request %d is answered with %q", n, m.Message)
			}
			seen[m.Message] = true
		}
	}
	if len(seen) != each*len(clients) {
		t.Errorf("%d different answers, want %d", len(seen), each*len(clients))
	}
}

// outOfOrder: a server may respond in any order.
func outOfOrder(t *testing.T, o Open) {
	a, b := open(t, o), open(t, o)
	s, clients := serve(t, a, b)
	for range 10 {
		_ = must(clients[0].Send(setBool(t, true)))(t)
	}
	waiting := requests(t, a, s, 10)
	for i := range waiting {
		r := waiting[len(waiting)-1-i]
		check(t, s.Respond(r.id, answer(t, "%d", r.id.Sequence)))
	}
	for n, r := range responses(t, b, clients[0], 10) {
		sameMessage[stdsrvs.SetBoolResponse](t, "response", answer(t, "%d", n), r)
	}
}

// availability: a service is available while a server of its name is matched.
func availability(t *testing.T, o Open) {
	a, b := open(t, o), open(t, o)
	c := must(b.node("/", "client").NewClient(arm, rmw.ServicesQoS(), "client"))(t)
	other := rmw.Service{Name: "/drone1/disarm", Type: setBoolType}
	_ = must(a.node("/", "other").NewServer(other, rmw.ServicesQoS(), "other"))(t)
	until(t, "the other service", func() bool { return len(b.Graph().Services()) == 2 }, a, b)
	if c.Available() {
		t.Error("another service counts")
	}
	for range 2 {
		s := must(a.node("/", "server").NewServer(arm, rmw.ServicesQoS(), "server"))(t)
		until(t, "availability", c.Available, a, b)
		check(t, s.Close())
		until(t, "absence", func() bool { return !c.Available() }, a, b)
	}
	// A request without a server is no error.
	_ = must(c.Send(setBool(t, true)))(t)
}

// clientGone: a response to a closed client is no error.
func clientGone(t *testing.T, o Open) {
	a, b := open(t, o), open(t, o)
	s, clients := serve(t, a, b)
	_ = must(clients[0].Send(setBool(t, true)))(t)
	r := requests(t, a, s, 1)[0]
	check(t, clients[0].Close())
	check(t, b.Close())
	check(t, s.Respond(r.id, answer(t, "late")))
	check(t, s.Respond(rmw.RequestID{Client: 12345, Sequence: 1}, answer(t, "to nobody")))
	check(t, s.Close())
	if err := s.Respond(r.id, answer(t, "later")); !errors.Is(err, rmw.ErrClosed) {
		t.Errorf("Respond after Close: %v", err)
	}
}

// serviceAllocations: a call allocates little.
func serviceAllocations(t *testing.T, o Open) {
	p := open(t, o)
	s, clients := serve(t, p, p)
	c := clients[0]
	ask, reply := setBool(t, true), answer(t, "armed")
	var id rmw.RequestID
	calls, answers := 0, 0
	onRequest := func(i rmw.RequestID, _ *dds.Sample) { id = i; calls++ }
	onResponse := func(int64, *dds.Sample) { answers++ }
	round := func() {
		_ = must(c.Send(ask))(t)
		for before := calls; calls == before; {
			_ = must(s.Take(1, onRequest))(t)
		}
		check(t, s.Respond(id, reply))
		for before := answers; answers == before; {
			_ = must(c.Take(1, onResponse))(t)
		}
	}
	for range 10 {
		round()
	}
	const few = 8
	if n := testing.AllocsPerRun(500, round); n > few && !raceDetector {
		t.Errorf("%v allocations per call, expected at most %d", n, few)
	}
}

// nested: the callback of Take may call any method.
func nested(t *testing.T, o Open) {
	p := open(t, o)
	s, clients := serve(t, p, p)
	for range 4 {
		_ = must(clients[0].Send(setBool(t, true)))(t)
	}
	var answered []int64
	var onRequest func(id rmw.RequestID, r *dds.Sample)
	onRequest = func(id rmw.RequestID, r *dds.Sample) {
		before := bytes.Clone(r.Data)
		_ = must(s.Take(1, onRequest))(t)
		sameBytes(t, "request after another", before, r.Data)
		check(t, s.Respond(id, answer(t, "%d", id.Sequence)))
		answered = append(answered, id.Sequence)
	}
	until(t, "four requests", func() bool {
		_ = must(s.Take(1, onRequest))(t)
		return len(answered) == 4
	}, p)
	left := 4
	var onResponse func(int64, *dds.Sample)
	onResponse = func(int64, *dds.Sample) {
		left--
		_ = must(clients[0].Take(1, onResponse))(t)
	}
	until(t, "four responses", func() bool {
		_ = must(clients[0].Take(1, onResponse))(t)
		return left == 0
	}, p)
}
