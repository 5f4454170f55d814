// Package encoder is the node latent_encoder: steps in, the latent of the condition that they were flown in out, before
// the next step comes. docs/guide/nodes.md names its topics; package latent holds what it does.
package encoder

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/flight/conditions"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/policy"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Name of the node.
const Name = "latent_encoder"

// Params of the node.
type Params struct {
	Robot      string  `param:"robot" default:"quadrotor" read_only:"true" doc:"bundles of other robots are refused"`
	BundleFile string  `param:"bundle_file" default:"" read_only:"true" doc:"bundle to begin with; empty waits for one on the topic bundle"`
	Rate       float64 `param:"rate" default:"50.0" min:"10" max:"400" unit:"Hz" read_only:"true" doc:"control ticks, as policy_controller has it; a multiple of the bundle's 1/Δt"`
	LatentAge  float64 `param:"latent_age" default:"0.1" min:"0.01" max:"10" unit:"s" read_only:"true" doc:"age from which a latent is not used, as policy_controller has it"`

	node.Trust

	ConditionsFile string            `param:"conditions_file" default:"" read_only:"true" doc:"file that remembers the conditions that were flown in, across runs; empty forgets them at the end"`
	Conditions     conditions.Config `param:"conditions" doc:"conditions: when latents are of the same one"`
}

// Encoder is the node. Steps have a group of their own, so that bundles are unpacked beside them.
type Encoder struct {
	*ros.Node
	params *params.Bound[Params]
	trust  *bundle.Trust
	steps  *ros.Group
	pub    *ros.Publisher[msgs.Latent]

	// Of the group of the steps.
	latents *control.Latents
	tick    control.TickRecord // what is read of the newest step
	next    uint64             // expected number of a step
	said    msgs.Latent

	rate        *diagnostics.Frequency
	latency     *diagnostics.Latency // from a step sent to its latent sent
	lost        atomic.Uint64
	unsent      atomic.Uint64
	flies       atomic.Pointer[string] // bundle of the newest step
	notOffboard atomic.Bool            // its command was not followed
	reads       atomic.Pointer[string] // bundle whose encoder reads
	novelty     atomic.Uint32          // of the newest latent, float32 bits
	prepared    string                 // newest bundle with a model, of the group of the bundles
	bare        atomic.Pointer[bare]   // newest bundle without latents
	trouble     atomic.Pointer[string] // with the newest bundle

	memory *memory
	flying node.Flying
	noted  int64 // stamp of the newest window that the memory was given, ns
}

// bare is a bundle that has no latents.
type bare struct{ id, why string }

// withoutLatent says why a bundle has no latents, "" where it has. A policy that is given no state gets none that are
// made of states.
func withoutLatent(b *bundle.Bundle) string {
	if !vnd.In(b) {
		return "has no model: its policy flies under the prior mean"
	}
	if p, err := policy.FromBundle(b); err == nil && p.Observation.Camera.StateFree {
		return "has a policy that is given no state: no latents are made of states for it"
	}
	return ""
}

// New makes the node.
func New(c *ros.Context) (*Encoder, error) {
	n, err := c.NewNode(Name)
	if err != nil {
		return nil, err
	}
	e := &Encoder{Node: n, steps: c.NewGroup(ros.Exclusive), rate: diagnostics.NewFrequency(0, math.Inf(1)),
		latency: diagnostics.NewLatency(0, 100*time.Millisecond)}
	if err := e.begin(c); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return e, nil
}

func (e *Encoder) begin(c *ros.Context) (err error) {
	if e.params, err = params.Bind[Params](e.Parameters(), nil); err != nil {
		return err
	}
	p := e.params.Load()
	if e.latents, err = control.NewLatents(p.LatentAge); err != nil {
		return err
	}
	if e.trust, err = p.Trust.New(); err != nil {
		return err
	}
	if w := p.Trust.Warning(); w != "" {
		e.Log().Warn().Msg(w)
	}
	if e.memory, err = newMemory(c, e.Node, p); err != nil {
		return err
	}
	if p.BundleFile != "" {
		b, err := bundle.Read(p.BundleFile)
		if err == nil {
			err = e.trust.CheckFile(b)
		}
		if err == nil {
			err = e.prepare(b)
		}
		if err != nil {
			return fmt.Errorf("parameter bundle_file: %w", err)
		}
	}
	node.FixWhile(e.Node, e.flying.InFlight, "use_sim_time")
	if e.pub, err = ros.NewPublisher[msgs.Latent](e.Node, "latent", node.LatentQoS()); err != nil {
		return err
	}
	if _, err = ros.NewSubscription(e.Node, "step", node.StepQoS(), e.step, ros.InGroup(e.steps)); err != nil {
		return err
	}
	if _, err = ros.NewSubscription(e.Node, "bundle", node.LatchedQoS(), e.bundle); err != nil {
		return err
	}
	u, err := diagnostics.New(e.Node, p.Robot)
	if err != nil {
		return err
	}
	u.Add("rate", e.reading(e.rate.Run))
	u.Add("latency", e.reading(e.latency.Run))
	u.Add("latent", e.report)
	u.Add("condition", e.memory.report)
	return nil
}

// bundle takes a message of the topic.
func (e *Encoder) bundle(m *msgs.Bundle, _ ros.Info) {
	b, err := node.Unpack(m)
	if err == nil {
		err = e.trust.Check(b)
	}
	if err == nil {
		err = e.prepare(b)
	}
	if err != nil {
		text := fmt.Sprintf("topic bundle: %v", err)
		e.trouble.Store(&text)
		e.Log().Error().Msg(text)
		return
	}
	e.trouble.Store(nil)
}

// prepare makes a bundle ready. It reads steps from the first one on that says that the bundle flies.
func (e *Encoder) prepare(b *bundle.Bundle) error {
	p := e.params.Load()
	if b.Robot != p.Robot {
		return fmt.Errorf("bundle %s is of robot %q, expected %q", b.ID, b.Robot, p.Robot)
	}
	if why := withoutLatent(b); why != "" {
		e.bare.Store(&bare{b.ID, why})
		e.Log().Info().Msgf("bundle %s %s", b.ID, why)
		return nil
	}
	if b.ID == e.prepared { // it came by another way
		return nil
	}
	m, err := control.LoadLatentModel(b, p.Rate)
	if err != nil {
		return fmt.Errorf("bundle %s: %w", b.ID, err)
	}
	if m == nil {
		e.bare.Store(&bare{b.ID, "has a model without latents: its policy flies under the prior mean"})
		return nil
	}
	e.steps.Post(func() { e.latents.Add(m) })
	e.prepared = b.ID
	e.Log().Info().Msgf("bundle %s", b.ID)
	return nil
}

// step has the encoder read one step, and says what it finds of a row.
func (e *Encoder) step(m *msgs.Step, i ros.Info) {
	if e.next != 0 && m.Seq > e.next {
		e.lost.Add(m.Seq - e.next)
	}
	e.next = m.Seq + 1
	e.flying.Step(guard.Stage(m.GuardState))
	pose := bridge.FromStep(m)
	k := &e.tick
	k.Bundle, k.Stage, k.Stamp = m.BundleID, guard.Stage(m.GuardState), pose.Stamp
	k.State, k.Sent = pose.State, bridge.CommandFromStep(m).Command
	e.notOffboard.Store(k.Stage == guard.NotOffboard)
	z := e.latents.Tick(k)
	e.note(m.BundleID)
	if z == nil {
		return
	}
	bridge.PutLatent(&e.said, z)
	if err := e.pub.Publish(&e.said); err != nil {
		e.unsent.Add(1)
	}
	e.rate.Tick()
	e.novelty.Store(math.Float32bits(z.Novelty))
	e.latency.Observe(time.Duration(time.Now().UnixNano() - int64(i.Source)))
	e.remember(z)
}

// note says for the diagnostics which bundle flies, and whether its encoder reads.
func (e *Encoder) note(id string) {
	if f := e.flies.Load(); f == nil || *f != id {
		e.flies.Store(&id)
	}
	switch m, reads := e.latents.Model(), e.reads.Load(); {
	case m == nil:
		e.reads.Store(nil)
	case reads == nil || *reads != m.Bundle:
		e.reads.Store(&m.Bundle)
	}
}

// remember hands the latent of a whole window to the memory, and the window once a second.
func (e *Encoder) remember(z *control.Latent) {
	const often = 1e9
	rows := e.latents.Rows()
	if rows == nil {
		return
	}
	t := rows[len(rows)-1].T
	if since := z.Stamp - e.noted; since >= 0 && since < often {
		rows = nil
	} else {
		e.noted = z.Stamp
	}
	e.memory.take(t, e.latents.Model(), z.Mean, rows)
}

// reading is a task for as long as there are latents to be had.
func (e *Encoder) reading(run diagnostics.Task) diagnostics.Task {
	return func(s *diagnostics.Status) {
		switch {
		case e.reads.Load() == nil:
			s.Summary(diagnostics.OK, "no latents")
			return
		case e.notOffboard.Load():
			s.Summary(diagnostics.OK, "no latents: commands are not followed")
			return
		}
		run(s)
	}
}

// report is the task "latent".
func (e *Encoder) report(s *diagnostics.Status) {
	flies, reads := e.flies.Load(), e.reads.Load()
	switch {
	case flies == nil && reads == nil:
		s.Summary(diagnostics.OK, "no steps yet")
	case reads == nil && e.bare.Load() != nil && e.bare.Load().id == *flies:
		s.Summary(diagnostics.OK, "bundle %s %s", *flies, e.bare.Load().why)
	case reads == nil:
		s.Summary(diagnostics.Warn, "bundle %s flies, which did not come by bundle_file or on the topic bundle: "+
			"prior mean", *flies)
	default:
		s.Summary(diagnostics.OK, "bundle %s", *reads)
	}
	s.Addf("novelty", "%.3f", math.Float32frombits(e.novelty.Load()))
	s.Add("steps lost", e.lost.Load())
	s.Add("latents not sent", e.unsent.Load())
	if t := e.trouble.Load(); t != nil {
		s.Merge(diagnostics.Warn, "%s", *t)
	}
}
