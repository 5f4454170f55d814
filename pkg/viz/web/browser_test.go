//go:build browser

// These tests drive a real Chromium, through chromedp: input, network and pictures by the browser's own protocol,
// without another driver to install. They are behind a tag because neither the browser, 100 MB of packages, nor the
// generated protocol, half a minute of compiling, belongs into every check: make page runs them.

package web

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"vnd/msgs"
	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
)

// browser is one tab of a headless Chromium.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	wrong  []string // what the page threw or complained of
	hosts  map[string]bool
	failed []string
}

func newBrowser(t *testing.T, width, height int64, scale float64, scheme string) *browser {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("no chromium here: apt-get install chromium")
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(),
		append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx, hosts: map[string]bool{}}
	b.do(chromedp.EmulateViewport(width, height, chromedp.EmulateScale(scale)))
	b.must(chromedp.Listen(ctx, b.note))
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme",
			Value: scheme}}})
	b.must(err)
	_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	b.must(err)
	ticks := performance.EnableTimeDomainThreadTicks
	_, err = chromedp.Call(ctx, performance.Enable, performance.EnableParams{TimeDomain: ticks})
	b.must(err)
	t.Cleanup(b.check)
	return b
}

// note keeps what the page asked of the network, and what went wrong.
func (b *browser) note(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		b.wrong = append(b.wrong, fmt.Sprintf("%+v", *e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		b.wrong = append(b.wrong, fmt.Sprintf("console: %+v", e.Args))
	case *network.EventRequestWillBeSent:
		b.hosts[strings.Join(strings.SplitAfterN(e.Request.URL, "/", 4)[:3], "")] = true
	case *network.EventWebSocketCreated:
		b.hosts[strings.Replace(strings.Join(strings.SplitAfterN(e.URL, "/", 4)[:3], ""), "ws://", "http://", 1)] = true
	case *network.EventLoadingFailed:
		b.failed = append(b.failed, e.ErrorText)
	}
}

func (b *browser) check() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range append(b.wrong, b.failed...) {
		b.t.Error(w)
	}
}

func (b *browser) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	b.must(chromedp.Do(b.ctx, steps...))
}

// js evaluates an expression.
func js[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits until an expression is true.
func (b *browser) until(expression string) {
	b.t.Helper()
	for end := time.Now().Add(long); !js[bool](b, expression); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("not in %v: %s; the page says %s", long, expression, js[string](b, `document.body.innerText`))
		}
	}
}

// text of an element, by its id.
func (b *browser) text(id string) string {
	b.t.Helper()
	return js[string](b, fmt.Sprintf(`document.getElementById(%q).textContent`, id))
}

// picture keeps a screenshot where VND_SHOTS says.
func (b *browser) picture(name string, full bool) {
	b.t.Helper()
	dir := os.Getenv("VND_SHOTS")
	if dir == "" {
		return
	}
	take := chromedp.CaptureScreenshot()
	if full {
		take = chromedp.FullScreenshot(100)
	}
	data, err := chromedp.Run(b.ctx, take)
	b.must(errors.Join(err, os.MkdirAll(dir, 0o777), os.WriteFile(filepath.Join(dir, name+".png"), data, 0o666)))
}

// eight sends ticks of a figure-eight, with latents, health and a learner.
func (g *stage) eight(n int) {
	w := 2 * math.Pi / 5
	for range n {
		t := float64(g.tick.Stamp-1_700_000_000_000_000_000) / 1e9
		at := func(t float64) so3.Vec3 {
			return so3.Vec3{X: 1.5 * math.Sin(w*t), Y: .8 * math.Sin(2*w*t), Z: 1.2 + .2*math.Sin(w*t)}
		}
		g.tick.Reference[0].P = at(t)
		off := .05 + .04*math.Sin(.9*t)
		g.tick.State.P = at(t).Add(so3.Vec3{Y: off})
		g.tick.State.V = at(t + .01).Sub(at(t - .01)).Scale(50)
		g.tick.State.Q = so3.FromEuler(.2*math.Sin(2*w*t), .2*math.Cos(w*t), 0)
		for i := range g.tick.Latent {
			g.tick.Latent[i] = float32(math.Sin(.3*t+float64(i)) + .2*math.Sin(40*t*float64(i+1)))
		}
		g.fly(1)
	}
}

// diagnose has the controller say something of itself, and for an hour: it is not stale before,
// however long the browser takes to start.
func (g *stage) diagnose(level uint8, message string) {
	status := diagnosticmsgs.DiagnosticStatus{Name: "policy_controller: control", Level: level, Message: message}
	g.scene.AddDiagnostics(&diagnosticmsgs.DiagnosticArray{Status: []diagnosticmsgs.DiagnosticStatus{status}},
		time.Now().Add(time.Hour))
}

// dress gives the scene all that there is besides steps.
func (g *stage) dress() {
	now := time.Now()
	path := &navmsgs.Path{}
	w := 2 * math.Pi / 5
	for k := range 101 {
		t := .05 * float64(k)
		p := geometrymsgs.Point{X: 1.5 * math.Sin(w*t), Y: .8 * math.Sin(2*w*t), Z: 1.2 + .2*math.Sin(w*t)}
		path.Poses = append(path.Poses, geometrymsgs.PoseStamped{Pose: geometrymsgs.Pose{Position: p}})
	}
	g.scene.Path(path)
	g.scene.AddBundle(&msgs.Bundle{ID: "first", Task: "track", MetricsJSON: `{"round": {"round": 3, "rows": 1500}}`},
		now)
	for k := range 100 {
		g.scene.Status(&msgs.LearnerStatus{Phase: "fit", Progress: float32(k+1) / 100,
			Loss: float32(3 / math.Sqrt(float64(k+1))), Message: "round 4", Transitions: 15000}, now)
	}
	g.diagnose(0, "the policy flies")
	g.scene.SetCondition(&diagnosticmsgs.DiagnosticStatus{Message: "seen before: fan east (visit 3)",
		Values: []diagnosticmsgs.KeyValue{{Key: "state", Value: "known"}, {Key: "id", Value: "2"},
			{Key: "all", Value: `[{"id":1,"name":"","visits":2,"seconds":31.0},` +
				`{"id":2,"name":"fan east","visits":3,"seconds":12.5}]`}}}, now)
	g.scene.UpdatePlane()
}

// The page shows what flies; its buttons do what they say.
func TestBrowser(t *testing.T) {
	g := newStage(t, config())
	g.tick.Stage = guard.Policy
	g.eight(1000)
	g.dress()
	b := newBrowser(t, 1440, 900, 1, "dark")
	b.do(chromedp.Navigate(g.s.URL()))
	b.until(`vnd.first > 0 && vnd.rows > 500 && document.getElementById('phase').textContent === 'fit'`)
	want := fmt.Sprintf("%.0f mm", 1000*g.tick.State.P.Sub(g.tick.Reference[0].P).Norm())
	for id, text := range map[string]string{"robot": "quad", "task": "track", "guard": "guard: policy", "error": want,
		"novelty": "–", "flies": "first", "overall": "all is well",
		"condition": "seen before: fan east (visit 3)", "message": "round 4"} {
		if got := b.text(id); got != text {
			t.Errorf("%s is %q, expected %q", id, got, text)
		}
	}
	if text := js[string](b, `document.getElementById('bundles').innerText`); !strings.Contains(text,
		"round 3 · 1,500 rows") || !strings.Contains(text, "flies") {
		t.Errorf("%q", text)
	}
	if text := js[string](b, `document.getElementById('conditions').innerText`); !strings.Contains(text,
		"condition 1 · 2×") || !strings.Contains(text, "fan east · 3×") {
		t.Errorf("%q", text)
	}
	for _, id := range []string{"space", "plots", "plane", "losses"} {
		if n := js[int](b, `(() => { const c = document.getElementById("`+id+`");
			const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, seen = new Set();
			for (let i = 0; i < d.length; i += 4)
				if (d[i + 3] > 100) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
			return seen.size; })()`); n < 3 {
			t.Errorf("%s is drawn in %d colours", id, n)
		}
	}
	b.picture("desktop", false)
	b.looks()
	b.rollsBack(g)
	b.alarms(g)
	b.mu.Lock()
	defer b.mu.Unlock()
	if home := g.s.URL(); len(b.hosts) != 1 || !b.hosts[home] {
		t.Errorf("the page asked %v, expected %s alone", b.hosts, home)
	}
}

// busy is the processor time that the page's thread has taken, s.
func (b *browser) busy() float64 {
	b.t.Helper()
	m, err := chromedp.Call(b.ctx, performance.GetMetrics, cdp.Empty{})
	b.must(err)
	for _, x := range m.Metrics {
		if x.Name == "TaskDuration" {
			return x.Value
		}
	}
	b.t.Fatal("no TaskDuration")
	return 0
}

// looks back in time, at another span, without a layer, and from above.
func (b *browser) looks() {
	b.t.Helper()
	b.do(chromedp.Click(`[data-span="10"]`))
	b.until(`vnd.world.span === 10`)
	box := js[[]float64](b, `(() => { const r = document.getElementById('plots').getBoundingClientRect();
		return [r.left, r.top, r.width, r.height]; })()`)
	b.do(chromedp.MouseEvent("mouseMoved", box[0]+box[2]/2, box[1]+box[3]/2))
	b.until(`/^[345]\.\d s ago$/.test(document.getElementById('when').textContent)`)
	if at := js[float64](b, `vnd.world.history.time(vnd.world.row)`); math.Abs(at-(19980-5000)) > 700 {
		b.t.Errorf("the row at %g ms is shown", at)
	}
	b.do(chromedp.MouseEvent("mouseMoved", 5, 5))
	b.until(`document.getElementById('when').textContent === 'arrows: 1 g is 0.5 m'`)
	b.do(chromedp.Click(`#layers button:nth-child(3)`))
	b.until(`document.querySelector('#layers button:nth-child(3)').getAttribute('aria-pressed') === 'false'`)
	b.do(chromedp.Click(`[data-view="top"]`), chromedp.Click(`#pause`))
	b.until(`document.getElementById('pause').getAttribute('aria-pressed') === 'true'`)
	b.do(chromedp.Click(`#pause`), chromedp.Click(`[data-view="home"]`))
}

// rollsBack once asked twice.
func (b *browser) rollsBack(g *stage) {
	b.t.Helper()
	b.do(chromedp.Click(`#rollback`))
	if text := b.text("rollback"); text != "press again to roll back" || g.asked.Load() != 0 {
		b.t.Errorf("%q after one press, %d asked", text, g.asked.Load())
	}
	b.do(chromedp.Click(`#rollback`))
	b.until(`document.getElementById('reply').textContent === 'rolled back to first'`)
	if g.asked.Load() != 1 {
		b.t.Errorf("asked %d times", g.asked.Load())
	}
	b.do(chromedp.SendKeys(`#name`, "fan west\r"))
	b.until(`document.getElementById('reply').textContent === 'not done: nobody knows fan west'`)
}

// alarms where the guard takes over, where steps cease, and where the visualizer ends.
func (b *browser) alarms(g *stage) {
	b.t.Helper()
	g.diagnose(2, "the guard flies: the tilt is too large (hold)")
	g.tick.Stage = guard.Hold
	g.eight(5)
	b.until(`document.getElementById('guard').textContent === 'guard: hold' &&
		document.getElementById('alarm').textContent.includes('the tilt is too large')`)
	b.until(`document.getElementById('overall').textContent === '1 error'`)
	b.until(`document.getElementById('alarm').textContent.startsWith('No step for')`)
	b.must(g.s.Close())
	b.until(`document.getElementById('alarm').textContent.startsWith('No connection')`)
	b.mu.Lock()
	b.wrong, b.failed = nil, nil // it complains of the connection, rightly
	b.mu.Unlock()
}

// On a phone nothing is cut off and fingers find the buttons.
func TestPhone(t *testing.T) {
	g := newStage(t, config())
	g.tick.Stage = guard.Policy
	g.eight(1000)
	g.dress()
	for _, scheme := range []string{"dark", "light"} {
		b := newBrowser(t, 390, 844, 2, scheme)
		b.do(chromedp.Navigate(g.s.URL()))
		b.until(`vnd.first > 0 && vnd.world.status.learner !== null`)
		if w := js[int](b, `document.documentElement.scrollWidth`); w != 390 {
			t.Errorf("the page is %d px wide on a screen of 390", w)
		}
		if small := js[string](b, `[...document.querySelectorAll('button:not(#layers button)')]
			.filter((e) => e.offsetParent && e.getBoundingClientRect().height < 30)
			.map((e) => e.textContent).join()`); small != "" {
			t.Errorf("buttons too small for fingers: %s", small)
		}
		if cut := js[string](b, `[...document.querySelectorAll('h2, p, li, dd, button')]
			.filter((e) => e.offsetParent && e.scrollWidth > e.clientWidth + 1 &&
				getComputedStyle(e).display !== 'inline')
			.map((e) => e.textContent).join()`); cut != "" {
			t.Errorf("cut off: %s", cut)
		}
		b.picture("phone-"+scheme, true)
	}
}

// With five minutes of history a picture comes at once and then 30 in a second. The figures are told, not asserted:
// they are of the machine. VND_SECONDS is how long it flies.
func TestPace(t *testing.T) {
	seconds := 5.0
	if s := os.Getenv("VND_SECONDS"); s != "" {
		if _, err := fmt.Sscan(s, &seconds); err != nil {
			t.Fatal(err)
		}
	}
	g := newStage(t, config())
	g.tick.Stage = guard.Policy
	g.eight(15000)
	g.dress()
	b := newBrowser(t, 1440, 900, 1, "dark")
	b.do(chromedp.Navigate(g.s.URL()))
	b.until(`vnd.first > 0`)
	b.do(chromedp.Click(`[data-span="300"]`))
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for end := time.Now().Add(time.Duration(seconds*float64(time.Second)) +
			2*time.Second); time.Now().Before(end); <-tick.C {
			g.eight(1)
		}
	}()
	time.Sleep(time.Second)
	frames, from := js[int](b, `vnd.frames`), time.Now()
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	frames = js[int](b, `vnd.frames`) - frames
	rate := float64(frames) / time.Since(from).Seconds()
	<-done
	b.picture("five-minutes", false)
	before := b.busy()
	js[bool](b, `(() => { for (let k = 0; k < 50; k++) vnd.draw(); return true; })()`)
	t.Logf("first picture after %.0f ms; %.1f pictures a second with %d rows, each %.1f ms of the page's thread",
		js[float64](b, `vnd.first`), rate, js[int](b, `vnd.rows`), (b.busy()-before)*1000/50)
	if rows := js[int](b, `vnd.rows`); rows < 3000 || frames == 0 {
		t.Errorf("%d rows, %d pictures", rows, frames)
	}
}
