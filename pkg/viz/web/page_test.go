package web

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
	"vnd/pkg/viz/scene"
)

const long = 30 * time.Second

func config() Config { return Config{Address: "127.0.0.1", Controls: true} }

// stage is a page that is served, with a flight behind it.
type stage struct {
	t     testing.TB
	scene *scene.Scene
	s     *Server
	tick  control.TickRecord
	asked atomic.Int32 // rollbacks
}

func newStage(t testing.TB, c Config) *stage {
	t.Helper()
	g := &stage{t: t, scene: scene.New(scene.Config{History: 300, Rate: 50, Horizon: 1}), tick: control.NewTickRecord()}
	g.tick.Stamp, g.tick.Bundle, g.tick.Task, g.tick.Stage, g.tick.Confidence = 1_700_000_000_000_000_000, "first",
		"track", guard.Limited, .5
	g.tick.State = quad.State{P: so3.Vec3{X: 1, Y: 2, Z: 3}, Q: so3.FromEuler(.1, .2, .3), V: so3.Vec3{X: .25}}
	g.tick.Sent = quad.Command{Thrust: 9.5, Rates: so3.Vec3{X: .125}}
	g.tick.Reference = append(g.tick.Reference, quad.Reference{P: so3.Vec3{X: 1, Y: 2, Z: 3.5}})
	g.tick.Latent, g.tick.LatentStamp = []float32{-1, .5, 2}, 1
	var err error
	g.s, err = Listen(c, "quad", g.scene, Actions{
		Rollback: func(context.Context) (string, error) {
			g.asked.Add(1)
			return "rolled back to first", nil
		},
		Name: func(_ context.Context, name string) (string, error) { return "", errors.New("nobody knows " + name) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.s.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func (g *stage) fly(n int) {
	var m msgs.Step
	for range n {
		bridge.PutStep(&m, &g.tick, "map")
		g.scene.Step(&m, 0)
		g.tick.Seq++
		g.tick.Stamp += 2e7
	}
}

// get asks for a path under a Host and an Origin.
func (g *stage) get(path, host, origin string) (*http.Response, string) {
	g.t.Helper()
	q, err := http.NewRequest("GET", g.s.URL()+strings.TrimPrefix(path, "/"), nil)
	if err != nil {
		g.t.Fatal(err)
	}
	if host != "" {
		q.Host = host
	}
	if origin != "" {
		q.Header.Set("Origin", origin)
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		g.t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return r, string(body)
}

// What other sites' pages could ask for in a visitor's name is refused.
func TestForeigners(t *testing.T) {
	c := config()
	c.Hosts = []string{"", "robot.lan"}
	g := newStage(t, c)
	here := strings.TrimSuffix(strings.TrimPrefix(g.s.URL(), "http://"), "/")
	_, port, _ := net.SplitHostPort(here)
	for _, c := range []struct {
		host, origin string
		good         bool
	}{
		{"", "", true},
		{"", "http://" + here, true},
		{"localhost:" + port, "http://localhost:" + port, true},
		{"robot.lan:" + port, "http://ROBOT.lan:" + port, true},
		{"192.168.1.7:" + port, "", true},
		{"[::1]:" + port, "http://[::1]:" + port, true},
		{"evil.example", "", false},
		{"evil.example:" + port, "http://evil.example:" + port, false}, // DNS that points here
		{"localhost.evil.example", "", false},
		{"", "http://evil.example", false},
		{"", "https://evil.example:" + port, false},
		{"", "null", false},
		{"", "http://127.0.0.1", false}, // another port of this machine
		{"", "http://localhost:" + port, false},
		{"robot.lan:" + port, "http://evil.example", false},
		{"", "file://" + here, false},
	} {
		for _, path := range []string{"/", "/main.js", "/live"} {
			r, body := g.get(path, c.host, c.origin)
			if good := r.StatusCode != http.StatusForbidden; good != c.good {
				t.Errorf("%s of host %q, origin %q: %s", path, c.host, c.origin, r.Status)
			}
			if !c.good && (!strings.Contains(body, "is refused") || strings.Count(body, "\n") != 1) {
				t.Errorf("%q", body)
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	_, r, err := websocket.Dial(ctx, g.s.URL()+"live",
		&websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"http://evil.example"}}})
	if err == nil || r.StatusCode != http.StatusForbidden {
		t.Errorf("a foreign page's socket: %v", err)
	}
}

func TestListenRefuses(t *testing.T) {
	g := newStage(t, config())
	c := config()
	c.Port = g.s.l.Addr().(*net.TCPAddr).Port
	for want, c := range map[string]Config{
		fmt.Sprintf("parameter page.port: 127.0.0.1:%d is in use by another program", c.Port): c,
		`parameter page.address is "localhost", expected an IP address`:                       {Address: "localhost"},
		"parameter page.address: this machine has no address 203.0.113.9":                     {Address: "203.0.113.9"},
	} {
		s, err := Listen(c, "quad", g.scene, Actions{})
		if s != nil || err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

func TestOpen(t *testing.T) {
	if g := newStage(t, config()); g.s.Open() != "" || !strings.HasPrefix(g.s.URL(), "http://127.0.0.1:") {
		t.Errorf("%q, %q", g.s.Open(), g.s.URL())
	}
	c := config()
	c.Address = "0.0.0.0"
	if g := newStage(t, c); g.s.Open() == "" || !strings.HasPrefix(g.s.URL(), "http://127.0.0.1:") {
		t.Errorf("%q, %q", g.s.Open(), g.s.URL())
	}
}

// The page has all that it names, and names nothing elsewhere.
func TestNothingFromTheNetwork(t *testing.T) {
	g := newStage(t, config())
	elsewhere := regexp.MustCompile(`(?i)\b(https?:)?//[a-z0-9]`)
	named := regexp.MustCompile(`(?:src|href)="([^"#][^"]*)"|from '\./([^']+)'`)
	files, err := fs.Sub(static, "static")
	if err != nil {
		t.Fatal(err)
	}
	all, err := fs.ReadDir(files, ".")
	if err != nil {
		t.Fatal(err)
	}
	reached := map[string]bool{"index.html": true}
	for _, f := range all {
		r, body := g.get("/"+strings.TrimSuffix(f.Name(), "index.html"), "", "")
		if r.StatusCode != http.StatusOK || !strings.Contains(r.Header.Get("Content-Security-Policy"),
			"default-src 'self'") {
			t.Errorf("%s: %s, %v", f.Name(), r.Status, r.Header)
		}
		for _, line := range strings.Split(body, "\n") {
			line = strings.ReplaceAll(line, "http://www.w3.org/2000/svg", "") // a name, not a place
			if strings.HasPrefix(strings.TrimSpace(line), "//") || strings.Contains(line, "location.host") {
				continue
			}
			if at := elsewhere.FindString(line); at != "" {
				t.Errorf("%s asks for %q: %s", f.Name(), at, line)
			}
		}
		for _, m := range named.FindAllStringSubmatch(body, -1) {
			name := m[1] + m[2]
			reached[name] = true
			if _, err := fs.Stat(files, name); err != nil {
				t.Errorf("%s names %s: %v", f.Name(), name, err)
			}
		}
	}
	for _, f := range all {
		if !reached[f.Name()] {
			t.Errorf("nobody asks for %s", f.Name())
		}
	}
}

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

// All that a browser is sent to begin with, files and five minutes of history, is at most 1.5 MB.
func TestSize(t *testing.T) {
	const most = 1_500_000
	g := newStage(t, config())
	g.fly(16000)
	total := 0
	files, err := static.ReadDir("static")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		_, body := g.get("/"+strings.TrimSuffix(f.Name(), "index.html"), "", "")
		total += len(body)
	}
	page := total
	v := g.view()
	v.next("status")
	if total += v.got; total > most {
		t.Errorf("%d bytes, expected at most %d", total, most)
	}
	t.Logf("%d bytes, %d of them the page's files", total, page)
}

func newPose(x float64) (p geometrymsgs.PoseStamped) {
	p.Pose.Position.X = x
	return p
}
