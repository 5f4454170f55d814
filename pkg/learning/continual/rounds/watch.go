package rounds

import (
	"fmt"
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/latent"
	"vnd/pkg/learning/gate"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle/store"
)

// watch looks at the flights of a robot by the bundle that flies and by the one before it.
//
// A bundle without a model has no latents, so that its flights have no place. They are kept until there is one with a
// model: its encoder reads them.
type watch struct {
	cfg      func() *Supervision
	dt       float64
	robots   int
	bundles  *store.Store
	evidence *gate.Evidence
	places   places     // of all robots
	known    known      // of the latent of the tick before
	unplaced []unplaced // flown by bundles without a model, oldest first
	last     int64      // stamp of the newest tick that counted, ns
	since    float64    // flight since the last comparison, s
	calm     float64    // flight of the bundle at hand without a trip of the guard, s
	flies    string
	before   int64 // stamp of the tick before, ns
}

// unplaced is what is kept of a tick that a bundle without a model flew. There are tens of thousands.
type unplaced struct {
	stamp  int64
	bundle string
	task   string
	error  float64
	row    quad.Row
}

// places are those of bundles' latents, by bundle; of one without a model nil. They are large, and the same for all
// robots.
type places map[string]*place

// place tells where a bundle's latents are.
type place struct {
	size        int // Z
	disturbance *gate.Disturbance
}

// known is the place of a latent, which stays for some ticks.
type known struct {
	by     *place
	latent []float32
	place  gate.Place
}

// newWatch watches one of some robots. The more there are, the surer each has to be: one that errs takes a bundle back
// from all (Bonferroni).
func newWatch(cfg func() *Supervision, dt float64, seed uint64, s *store.Store, p places, robots int) *watch {
	e := cfg().Evidence
	e.Level = 1 - (1-e.Level)/float64(robots)
	return &watch{cfg: cfg, dt: dt, robots: robots, bundles: s, evidence: gate.NewEvidence(e, seed), places: p}
}

// rollsBack reports whether a bundle that is shown to fly worse is rolled back.
func (w *watch) rollsBack() bool { return w.cfg().Rollback }

// safe takes a tick and returns its bundle where that has now flown safely for long enough.
func (w *watch) safe(t *ControllerTick) string {
	apart := float64(t.Stamp-w.before) / 1e9
	w.before = t.Stamp
	if t.Bundle != w.flies || !t.Policy {
		w.flies, w.calm = t.Bundle, 0
		return ""
	}
	if apart > 0 && apart < 10*w.dt {
		w.calm += apart
	}
	if w.calm < w.cfg().Safe {
		return ""
	}
	w.calm = 0
	return t.Bundle
}

// add takes a tick and, every now and then, compares.
func (w *watch) add(t *ControllerTick) *gate.Finding {
	apart := float64(t.Stamp-w.last) / 1e9
	if apart > 0 && apart < 0.75*w.dt || !t.Policy {
		return nil // ticks between rows say nothing more
	}
	w.last = t.Stamp
	at := t.Place
	if at == nil {
		if at = w.byLatent(t); at == nil {
			return nil
		}
	}
	w.evidence.Add(gate.Sample{T: float64(t.Stamp) / 1e9, Bundle: t.Bundle, Task: t.Task, Place: *at, Error: t.Error})
	if w.since += min(max(apart, 0),
		1); w.since < w.cfg().Evidence.Seconds { // looking more often would find more by chance
		return nil
	}
	w.since = 0
	now, parent := w.bundles.Current(), w.bundles.Before()
	if now.ID != t.Bundle || parent == "" {
		return nil
	}
	return w.evidence.Compare(now.ID, parent)
}

// byLatent is the place that a tick's latent tells; nil where it tells none.
func (w *watch) byLatent(t *ControllerTick) *gate.Place {
	p := w.place(t.Bundle)
	if p == nil {
		w.keep(t)
		return nil
	}
	if len(t.Latent) != p.size || p.size == 0 {
		return nil
	}
	at := w.of(p, t.Latent)
	return &at
}

// place of a bundle's latents; nil where it has none, or is not in the store.
func (w *watch) place(id string) *place {
	p, ok := w.places[id]
	if ok {
		return p
	}
	w.places[id] = nil
	b, err := w.bundles.Bundle(id)
	if err != nil || !vnd.In(b) {
		return nil
	}
	m, q, err := vnd.FromBundle(b, quadrotor.Reader)
	if err != nil {
		return nil
	}
	w.places[id] = &place{size: m.Net.Latent, disturbance: gate.NewDisturbance(m, q.Dt)}
	return w.places[id]
}

// of returns the place of a bundle's latent.
func (w *watch) of(p *place, z []float32) gate.Place {
	if w.known.by != p || !slices.Equal(w.known.latent, z) {
		w.known = known{p, append(w.known.latent[:0], z...), p.disturbance.Place(z)}
	}
	return w.known.place
}

// keep remembers a flight without a place, as long as its evidence would be. Only the bundle that flies and the one
// before it are ever compared: others are not kept. Robots share the space, and the time that reading it takes; each
// has enough to be compared.
func (w *watch) keep(t *ControllerTick) {
	const areas, enough = 8, 3 // conditions that a first policy may have met; of what a comparison takes
	id := w.bundles.Current().ID
	if t.Bundle != id {
		if id = w.bundles.Before(); t.Bundle != id {
			return
		}
	}
	e := w.cfg().Evidence
	most := int(max(areas*e.Most/float64(w.robots), enough*e.Seconds) / w.dt)
	u := w.unplaced
	if len(u) >= most+most/8 {
		u = u[:copy(u, u[len(u)-most:])]
	}
	task := t.Task
	if n := len(u); n > 0 && u[n-1].task == task {
		task = u[n-1].task // each message brings a string of its own
	}
	w.unplaced = append(u, unplaced{t.Stamp, id, task, t.Error, t.Row})
}

// changed is called when another bundle flies: evidence of others than it and the one before is forgotten. Flights that
// had no place get one, if the model of the bundle that flies now can read them.
func (w *watch) changed() error {
	now, parent := w.bundles.Current().ID, w.bundles.Before()
	w.evidence.Keep(now, parent)
	for id := range w.places {
		if id != now && id != parent {
			delete(w.places, id)
		}
	}
	w.unplaced = slices.DeleteFunc(w.unplaced, func(t unplaced) bool { return t.bundle != now && t.bundle != parent })
	if len(w.unplaced) == 0 || w.place(now) == nil || parent == "" || w.place(parent) != nil {
		return nil
	}
	if err := w.read(now, parent); err != nil {
		return fmt.Errorf("flights of bundle %s cannot be compared with those of %s: %w", parent, now, err)
	}
	w.unplaced = nil
	return nil
}

// read has the encoder of one bundle read what another one flew.
func (w *watch) read(now, parent string) error {
	m, q, err := vnd.FromBundle(w.bundles.Current(), quadrotor.Reader)
	if err != nil {
		return err
	}
	r, err := latent.LoadModel(m, q, 1)
	if err != nil {
		return err
	}
	e, err := latent.New(w.dt)
	if err != nil {
		return err
	}
	e.Swap(r)
	p := w.place(now)
	for i := range w.unplaced {
		t := &w.unplaced[i]
		row := t.row
		row.T = float64(t.stamp-w.unplaced[0].stamp) / 1e9
		if t.bundle != parent || !e.Push(&row) || !e.Known() {
			continue
		}
		w.evidence.Add(gate.Sample{T: float64(t.stamp) / 1e9, Bundle: parent, Task: t.task, Place: w.of(p, e.Mean()),
			Error: t.error})
	}
	return nil
}

// watchAnew has another bundle watched in flight.
func (l *Runner[S]) watchAnew() {
	for _, w := range l.watches {
		if err := w.changed(); err != nil {
			l.log(true, err.Error())
		}
	}
}

// Supervise has bundles watched at work. It comes before Run.
func (l *Runner[S]) Supervise(cfg func() *Supervision) {
	l.watches = map[string]*watch{}
	p := places{}
	for _, name := range l.opt.Robots {
		l.watches[name] = newWatch(cfg, l.opt.Dt, l.opt.Seed, l.bundles, p, len(l.opt.Robots))
	}
}

// tick looks at what was flown, and takes a bundle back that flies worse than the one before it, or that the controller
// itself gave up.
func (l *Runner[S]) tick(t *ControllerTick) {
	w := l.watches[t.Robot]
	if w == nil || l.bundles.Current() == nil {
		return
	}
	if id := w.safe(t); id != "" {
		if err := l.bundles.Flew(id); err != nil {
			l.log(true, err.Error())
		}
	}
	why := ""
	if f := w.add(t); f != nil && f.Worse {
		why = f.Reason
	}
	if t.Dropped == l.bundles.Current().ID && t.Bundle == l.bundles.Before() {
		why = "the controller rolled it back: " + t.Fault
	}
	if why == "" || !w.rollsBack() {
		return
	}
	if _, err := l.takeBack(why, false); err != nil {
		l.log(true, err.Error())
	}
}
