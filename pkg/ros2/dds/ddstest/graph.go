package ddstest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vnd/pkg/ros2/dds"
)

// matched: both sides count and list their matches.
func matched(t *testing.T, h *harness) {
	p := h.participant()
	w := h.writer(h.participant(), "matched", reliable())
	a, b := h.reader(p, "matched", reliable()), h.reader(p, "matched", reliable())
	h.reader(p, "another", reliable())
	h.eventually("two readers", func() bool { s := w.Status(); return s.Matched == 2 && s.MatchedTotal == 2 })
	h.eventually("the writer", func() bool { return a.Status().Matched == 1 && b.Status().Matched == 1 })
	if s := a.Status(); s.Alive != 1 || s.NotAlive != 0 || s.MatchedTotal != 1 {
		t.Errorf("a reader of one writer: %+v", s)
	}
	if got, want := guids(w.Matched), sorted(a.GUID(), b.GUID()); !slices.Equal(got, want) {
		t.Errorf("the writer matched %v, expected %v", got, want)
	}
	if got := guids(a.Matched); !slices.Equal(got, []dds.GUID{w.GUID()}) {
		t.Errorf("the reader matched %v, expected %v", got, w.GUID())
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	h.eventually("one reader is left", func() bool { s := w.Status(); return s.Matched == 1 && s.MatchedTotal == 2 })
	if got := guids(w.Matched); !slices.Equal(got, []dds.GUID{b.GUID()}) {
		t.Errorf("the writer matched %v, expected %v", got, b.GUID())
	}
}

func guids(each func(func(dds.GUID))) []dds.GUID {
	var all []dds.GUID
	each(func(g dds.GUID) { all = append(all, g) })
	return sorted(all...)
}

func sorted(all ...dds.GUID) []dds.GUID {
	slices.SortFunc(all, func(a, b dds.GUID) int { return bytes.Compare(a[:], b[:]) })
	return all
}

// ignoreLocal: a reader that ignores its own participant matches the others.
func ignoreLocal(t *testing.T, h *harness) {
	p := h.participant()
	deaf := reliable()
	deaf.IgnoreLocal = true
	ignoring, listening := h.reader(p, "ignore", deaf), h.reader(p, "ignore", reliable())
	own, others := h.writer(p, "ignore", reliable()), h.writer(h.participant(), "ignore", reliable())
	h.eventually("the other writer", func() bool { return ignoring.Status().Matched == 1 })
	h.eventually("both writers", func() bool { return listening.Status().Matched == 2 })
	h.eventually("both readers", func() bool { return others.Status().Matched == 2 })
	h.write(own, number(1))
	h.take(listening, 1)
	h.write(others, number(2))
	h.take(listening, 1)
	if got := numbersOf(t, h.take(ignoring, 1)); got[0] != 2 {
		t.Errorf("a reader that ignores its participant took %v", got)
	}
}

// typesApart: one name with two types is two topics, also in one participant.
func typesApart(t *testing.T, h *harness) {
	p := h.participant()
	w := h.writer(p, "types", reliable())
	other := topic("types")
	other.Type = "ddstest::msg::dds_::Other_"
	var strangers []dds.Reader
	stranger, err := p.NewReader(other, reliable(), nil)
	switch {
	case h.has(TwoTypes) && err != nil:
		t.Fatal(err)
	case h.has(TwoTypes):
		strangers = append(strangers, stranger)
	case err == nil || !strings.Contains(err.Error(), other.Name) || !strings.Contains(err.Error(), "another type"):
		t.Errorf("a second type of a topic: %v, expected an error with its name", err)
	}
	far, err := h.participant().NewReader(other, reliable(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := h.reader(h.participant(), "types", reliable())
	h.waitMatched(w, r)
	h.write(w, number(1))
	h.take(r, 1)
	for _, x := range append(strangers, far) {
		if s := x.Status(); s.Matched != 0 || len(h.takeNow(x, 1)) != 0 {
			t.Errorf("a reader of another type: %+v", s)
		}
	}
}

// handles: the handles of writers differ, and all GUIDs.
func handles(t *testing.T, h *harness) {
	seen, names := map[uint64]bool{}, map[dds.GUID]bool{}
	participants := []dds.Participant{h.participant(), h.participant(), h.participant()}
	for _, p := range participants {
		names[p.GUID()] = true
		for i := range 5 {
			w := h.writer(p, fmt.Sprint("handles ", i), reliable())
			seen[w.Handle()], names[w.GUID()] = true, true
			names[h.reader(p, fmt.Sprint("handles ", i), reliable()).GUID()] = true
			if g, own := w.GUID(), p.GUID(); !bytes.Equal(g[:12], own[:12]) {
				t.Errorf("writer %v is not of participant %v", g, own)
			}
		}
	}
	if len(seen) != 15 || len(names) != 33 {
		t.Errorf("15 writers have %d handles; 33 entities have %d names", len(seen), len(names))
	}
}

// graph follows Changes, and checks that they are consistent.
type graph struct {
	h     *harness
	alive map[dds.GUID]dds.Change
	gone  map[dds.GUID]int // how often
}

func (h *harness) graph() *graph {
	return &graph{h, map[dds.GUID]dds.Change{}, map[dds.GUID]int{}}
}

func (g *graph) follow(p dds.Participant) {
	t := g.h.t
	t.Helper()
	err := p.Changes(func(c dds.Change) {
		owner, known := g.alive[c.Participant]
		switch {
		case c.Kind == dds.ParticipantKind && c.Participant != c.GUID:
			t.Errorf("participant %v belongs to %v", c.GUID, c.Participant)
		case c.Kind != dds.ParticipantKind && (!known || owner.Kind != dds.ParticipantKind):
			t.Errorf("endpoint %+v of an unknown participant", c)
		}
		if c.Alive {
			g.alive[c.GUID] = c
			return
		}
		if g.alive[c.GUID].Kind != c.Kind || !g.alive[c.GUID].Alive {
			t.Errorf("%+v goes, but was never there", c)
		}
		for _, e := range g.alive {
			if c.Kind == dds.ParticipantKind && e.Participant == c.GUID && e.GUID != c.GUID {
				t.Errorf("participant %v goes before its endpoint %v", c.GUID, e.GUID)
			}
		}
		delete(g.alive, c.GUID)
		g.gone[c.GUID]++
	})
	if err != nil {
		t.Fatal(err)
	}
}

// wait follows the changes until a condition holds.
func (g *graph) wait(p dds.Participant, what string, is func() bool) {
	g.h.t.Helper()
	g.follow(p)
	for end := time.Now().Add(patience); !is(); g.follow(p) {
		if time.Now().After(end) {
			g.h.t.Fatalf("%s: the graph is %+v", what, g.alive)
		}
		if _, err := p.Wait(time.Second, nil); err != nil {
			g.h.t.Fatal(err)
		}
	}
}

// changes: participants and endpoints appear with their topic, QoS and user data, and
// disappear.
func changes(t *testing.T, h *harness) {
	p := h.participant()
	g := h.graph()
	other := h.open(t, []byte("enclave=/other;"))
	full := dds.QoS{
		Reliability: dds.Reliable, MaxBlocking: 3 * time.Second, Durability: dds.TransientLocal, Depth: 7,
		Deadline: 5 * time.Second, Lifespan: 6 * time.Second, Lease: 8 * time.Second, Liveliness: dds.ManualByTopic,
		UserData: []byte("clientid=1;\x00\xff"),
	}
	w := h.writer(other, "changes", full)
	r := h.reader(other, "changes", dds.QoS{Depth: 4, UserData: []byte("r")})
	g.wait(p, "all appear", func() bool {
		return g.alive[w.GUID()].Alive && g.alive[r.GUID()].Alive && g.alive[p.GUID()].Alive
	})
	if c := g.alive[other.GUID()]; c.Kind != dds.ParticipantKind || string(c.UserData) != "enclave=/other;" {
		t.Errorf("the other participant: %+v", c)
	}
	if c := g.alive[p.GUID()]; string(c.UserData) != "enclave=/;" {
		t.Errorf("the own participant: %+v", c)
	}
	c := g.alive[w.GUID()]
	if c.Kind != dds.WriterKind || c.Topic != topic("changes") || string(c.UserData) != string(full.UserData) ||
		string(c.QoS.UserData) != string(full.UserData) || c.Participant != other.GUID() {
		t.Errorf("the writer: %+v", c)
	}
	if !h.has(History) {
		full.Depth = 0
	}
	if got, want := fmt.Sprintf("%+v", c.QoS), fmt.Sprintf("%+v", full); got != want {
		t.Errorf("the writer's QoS:\n got %s\nwant %s", got, want)
	}
	c = g.alive[r.GUID()]
	if c.Kind != dds.ReaderKind || c.Topic != topic("changes") || c.QoS.Reliability != dds.BestEffort ||
		c.QoS.Depth != 4 && h.has(History) || c.QoS.Deadline != 0 || c.QoS.Lease != 0 || string(c.UserData) != "r" {
		t.Errorf("the reader: %+v", c)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	g.wait(p, "the reader goes", func() bool { return g.gone[r.GUID()] == 1 })
	if !g.alive[w.GUID()].Alive {
		t.Error("the writer went with the reader")
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	g.wait(p, "the other participant goes", func() bool { return g.gone[other.GUID()] == 1 })
	if g.gone[w.GUID()] != 1 || g.gone[r.GUID()] != 1 || len(g.alive) != 1 {
		t.Errorf("gone: %v; alive: %v", g.gone, g.alive)
	}
}

// changesAtOpen: a late participant gets those that exist.
func changesAtOpen(t *testing.T, h *harness) {
	early := h.participant()
	w := h.writer(early, "early", reliable())
	late := h.participant()
	own := h.reader(late, "own", reliable())
	g := h.graph()
	g.wait(late, "all are there", func() bool { return g.alive[w.GUID()].Alive && g.alive[own.GUID()].Alive })
	h.calm(late)
	g.follow(late)
	if len(g.alive) != 4 {
		t.Errorf("two participants with an endpoint each: %v", g.alive)
	}
}

// changesForgotten: endpoints that appear and disappear unseen leave the graph
// consistent.
func changesForgotten(t *testing.T, h *harness) {
	p, other := h.participant(), h.participant()
	for i := range 50 {
		w := h.writer(other, fmt.Sprint("passing ", i), reliable())
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	last := h.writer(other, "last", reliable())
	g := h.graph()
	g.wait(p, "the last one", func() bool { return g.alive[last.GUID()].Alive && len(g.alive) == 3 })
}
