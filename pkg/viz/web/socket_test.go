package web

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	"vnd/pkg/core/so3"
)

// viewing is a browser's side of the socket.
type viewing struct {
	t   testing.TB
	ctx context.Context
	c   *websocket.Conn
	got int // bytes
}

func (g *stage) view() *viewing {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), long)
	g.t.Cleanup(cancel)
	c, _, err := websocket.Dial(ctx, g.s.URL()+"live", nil)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { c.CloseNow() })
	c.SetReadLimit(1 << 22)
	return &viewing{t: g.t, ctx: ctx, c: c}
}

// next is the next message of a kind; others are passed over.
func (v *viewing) next(kind string) map[string]any {
	v.t.Helper()
	for {
		k, data := v.read()
		if k == websocket.MessageBinary {
			if kind == "rows" {
				return map[string]any{"rows": data}
			}
			continue
		}
		m := map[string]any{}
		if err := json.Unmarshal(data, &m); err != nil {
			v.t.Fatalf("%v: %s", err, data)
		}
		if m["kind"] == kind {
			return m
		}
	}
}

func (v *viewing) read() (websocket.MessageType, []byte) {
	v.t.Helper()
	k, data, err := v.c.Read(v.ctx)
	if err != nil {
		v.t.Fatal(err)
	}
	v.got += len(data)
	return k, data
}

func (v *viewing) rows() [][words]float32 {
	v.t.Helper()
	data := v.next("rows")["rows"].([]byte)
	if len(data)%(4*words) != 0 {
		v.t.Fatalf("%d bytes are no rows", len(data))
	}
	out := make([][words]float32, len(data)/(4*words))
	if err := binary.Read(bytes.NewReader(data), binary.LittleEndian, &out); err != nil {
		v.t.Fatal(err)
	}
	return out
}

// A browser is given the history once and then every row; every number is where the page looks for it.
func TestRows(t *testing.T) {
	g := newStage(t, config())
	g.fly(50)
	v := g.view()
	h := v.next("hello")
	if h["robot"] != "quad" || h["controls"] != true || h["words"] != float64(words) ||
		h["latent_at"] != float64(latentAt) || h["first"] != 1.7e12 ||
		fmt.Sprint(h["stages"]) != "[policy limited hold land blind off not offboard]" {
		t.Errorf("%v", h)
	}
	all := v.rows()
	for len(all) < 50 {
		all = append(all, v.rows()...)
	}
	r := all[49]
	if ms := math.Float32bits(r[0]); len(all) != 50 || ms != 49*20 {
		t.Errorf("%d rows, the last at %d ms", len(all), ms)
	}
	q := so3.FromEuler(.1, .2, .3)
	for at, want := range map[int]float64{1: 1, 2: 2, 3: 3, 4: q.W, 5: q.X, 6: q.Y, 7: q.Z, 8: .25, 11: 1, 13: 3.5,
		14: 9.5, 15: .125, 21: 1, 22: .5, 24: 0, 25: 3, 26: 0, 27: -1, 28: .5, 29: 2, 30: 0} {
		if float64(r[at]) != float64(float32(want)) {
			t.Errorf("word %d is %g, expected %g", at, r[at], want)
		}
	}
	if r[23] == r[23] {
		t.Errorf("novelty %g before any latent", r[23])
	}
	g.fly(30)
	for all = nil; len(all) < 30; {
		all = append(all, v.rows()...)
	}
	if len(all) != 30 || math.Float32bits(all[0][0]) != 50*20 {
		t.Errorf("%d rows, the first at %d ms", len(all), math.Float32bits(all[0][0]))
	}
	g.tick.Stamp -= 60e9 // the clock is set back
	g.fly(3)
	if h := v.next("hello"); h["first"].(float64) >= 1.7e12 {
		t.Errorf("%v", h)
	}
	if all := v.rows(); math.Float32bits(all[0][0]) != 0 {
		t.Errorf("a history that begins at %d ms", math.Float32bits(all[0][0]))
	}
}

// What is no number comes as null, and all of the status comes.
func TestStatus(t *testing.T) {
	g := newStage(t, config())
	g.fly(10)
	now := time.Now()
	g.scene.AddBundle(&msgs.Bundle{ID: "second", Parent: "first", Task: "track", MetricsJSON: `{"round": {"rows": 7}}`},
		now)
	g.scene.Status(&msgs.LearnerStatus{Phase: "fit", Progress: float32(math.NaN()), Loss: 2, Message: "fits",
		Transitions: 1234}, now)
	path := &navmsgs.Path{}
	path.Poses = append(path.Poses, newPose(1), newPose(math.NaN()))
	g.scene.Path(path)
	v := g.view()
	if p := v.next("reference"); fmt.Sprint(p["path"]) != "[[1 0 0] [<nil> 0 0]]" {
		t.Errorf("%v", p)
	}
	if b := v.next("bundles")["bundles"].([]any)[1].(map[string]any); b["id"] != "second" || b["parent"] != "first" ||
		fmt.Sprint(b["metrics"]) != "map[round:map[rows:7]]" || b["published"] != true {
		t.Errorf("%v", b)
	}
	s := v.next("status")
	if s["task"] != "track" || s["frame"] != "map" || s["steps"] != 10.0 || s["lost"] != 0.0 {
		t.Errorf("%v", s)
	}
	if l := s["learner"].(map[string]any); l["phase"] != "fit" || l["progress"] != nil || l["message"] != "fits" ||
		l["transitions"] != 1234.0 || fmt.Sprint(l["losses"]) != "[2]" {
		t.Errorf("%v", l)
	}
	if l := s["latency"].(map[string]any); len(l["edges"].([]any)) != len(l["buckets"].([]any)) || l["count"] != 0.0 {
		t.Errorf("%v", l)
	}
	g.scene.AddBundle(&msgs.Bundle{ID: "third", MetricsJSON: "no JSON"}, now)
	all := v.next("bundles")["bundles"].([]any)
	if b := all[len(all)-1].(map[string]any); len(all) != 3 || b["metrics"] != nil {
		t.Errorf("%v", all)
	}
}

// What the page asks for is done and answered; what it may not ask for is refused in words.
func TestAsks(t *testing.T) {
	g := newStage(t, config())
	v := g.view()
	for _, c := range []struct {
		ask, text string
		ok        bool
	}{
		{`{"ask": "rollback"}`, "rolled back to first", true},
		{`{"ask": "name", "condition": "fan"}`, "nobody knows fan", false},
		{`{"ask": "land"}`, `"land" is nothing that can be done`, false},
		{`{"ask": `, "unexpected end of JSON input", false},
	} {
		if err := v.c.Write(v.ctx, websocket.MessageText, []byte(c.ask)); err != nil {
			t.Fatal(err)
		}
		if r := v.next("reply"); r["ok"] != c.ok || r["text"] != c.text {
			t.Errorf("%s: %v", c.ask, r)
		}
	}
	if n := g.asked.Load(); n != 1 {
		t.Errorf("rolled back %d times", n)
	}
	c := config()
	c.Controls = false
	g = newStage(t, c)
	v = g.view()
	if err := v.c.Write(v.ctx, websocket.MessageText, []byte(`{"ask": "rollback"}`)); err != nil {
		t.Fatal(err)
	}
	if r := v.next("reply"); r["ok"] != false ||
		!strings.Contains(r["text"].(string), "parameter page.controls is false") || g.asked.Load() != 0 {
		t.Errorf("%v", r)
	}
}

func TestManyViewers(t *testing.T) {
	g := newStage(t, config())
	var all []*viewing
	for range mostViewers {
		v := g.view()
		v.next("hello")
		all = append(all, v)
	}
	if r, _ := g.get("/live", "", ""); r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more: %s", r.Status)
	}
	for _, v := range all {
		v.c.CloseNow()
	}
	for end := time.Now().Add(long); g.s.Viewers() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d look, and none is there", g.s.Viewers())
		}
	}
	g.view().next("hello")
}

func newPose(x float64) (p geometrymsgs.PoseStamped) {
	p.Pose.Position.X = x
	return p
}
