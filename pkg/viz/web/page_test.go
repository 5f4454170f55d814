package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"vnd/msgs"
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
		Name:  func(_ context.Context, name string) (string, error) { return "", errors.New("nobody knows " + name) },
		Graph: emptyGraph{},
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
		for line := range strings.SplitSeq(body, "\n") {
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
