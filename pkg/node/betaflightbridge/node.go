// Package betaflightbridge is the node betaflight_bridge: the topic command becomes sticks of a board with Betaflight,
// and what the board tells becomes topics.
package betaflightbridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"vnd/msgs"
	mavrosmsgs "vnd/msgs/mavros_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/bridge/betaflight/link"
	"vnd/pkg/node"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
)

// Bridge is the node.
type Bridge struct {
	*ros.Node
	params    *Params
	companion atomic.Pointer[link.Companion] // nil while no board is connected
	trouble   atomic.Pointer[string]         // with the connection; nil: none
	states    *ros.Publisher[mavrosmsgs.State]
	batteries *ros.Publisher[sensormsgs.BatteryState]
	stale     atomic.Uint64 // commands that came too late
}

// New makes the node; it runs until ctx is done.
func New(ctx context.Context, c *ros.Context) error {
	n, err := c.NewNode(Name)
	if err != nil {
		return err
	}
	b := &Bridge{Node: n}
	if err := b.begin(ctx); err != nil {
		return errors.Join(err, n.Close())
	}
	go b.run(ctx)
	go b.report(ctx)
	return nil
}

func (b *Bridge) begin(ctx context.Context) error {
	bound, err := node.BindAirframe(b.Node, (*Params).check)
	if err != nil {
		return err
	}
	b.params = bound.Load()
	if err := b.params.check(); err != nil {
		return err
	}
	if b.states, err = ros.NewPublisher[mavrosmsgs.State](b.Node, "~/state",
		ros.QoS{Reliability: dds.Reliable, Depth: 10}); err != nil {
		return err
	}
	b.batteries, err = ros.NewPublisher[sensormsgs.BatteryState](b.Node, "battery", node.AutopilotQoS())
	if err != nil {
		return err
	}
	if _, err = ros.NewSubscription(b.Node, "command", node.CommandQoS(), b.command); err != nil {
		return err
	}
	if _, err = ros.NewService(b.Node, "~/arm", func(q *stdsrvs.SetBoolRequest, r *stdsrvs.SetBoolResponse) {
		r.Success, r.Message = b.arm(ctx, q.Data)
	}); err != nil {
		return err
	}
	u, err := diagnostics.New(b.Node, Name)
	if err != nil {
		return err
	}
	u.Add("board", func(s *diagnostics.Status) { b.diagnose(ctx, s) })
	return nil
}

// command takes one, unless its state is older than a command may be: it waited somewhere.
func (b *Bridge) command(m *msgs.ThrustRates, _ ros.Info) {
	c := bridge.FromThrustRates(m)
	age := int64(b.Clock().Now()) - c.Stamp
	if limit := int64(b.params.CommandTimeout * 1e9); c.Stamp != 0 && (age > limit || age < -limit) {
		b.stale.Add(1)
		return
	}
	if to := b.companion.Load(); to != nil {
		to.Command(b.params.Clip(c.Command))
	}
}

// arm carries out an order.
func (b *Bridge) arm(ctx context.Context, on bool) (done bool, message string) {
	to := b.companion.Load()
	if to == nil {
		return false, "no board is connected"
	}
	if err := to.SetArmed(ctx, on); err != nil {
		return false, err.Error()
	}
	if !on {
		return true, "disarmed"
	}
	for ctx.Err() == nil {
		r, err := to.Report(ctx)
		switch {
		case err != nil:
			return false, err.Error()
		case r.State == link.Flying:
			return true, "armed"
		case !r.Ordered:
			return false, cmp.Or(r.Refusal, "the board was disarmed again")
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false, "the bridge ends"
}

// run flies boards until ctx is done: where one is lost, the next that comes.
func (b *Bridge) run(ctx context.Context) {
	const pause = time.Second
	for ctx.Err() == nil {
		err := b.fly(ctx)
		b.companion.Store(nil)
		if err == nil {
			continue
		}
		text := err.Error()
		if last := b.trouble.Swap(&text); last == nil || *last != text {
			b.Log().Error().Msg(text)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// fly connects to a board and sends until it is lost.
func (b *Bridge) fly(ctx context.Context) (err error) {
	p := b.params
	name := p.Telemetry
	if name == "" {
		name = p.Port
	}
	port, err := link.Open(name, link.MSP)
	if err != nil {
		return err
	}
	board := link.NewBoard(port)
	defer func() { err = errors.Join(err, board.Close()) }()
	settings, err := board.Configure(p.fastest())
	if err == nil {
		err = settings.Listens(p.Protocol)
	}
	if err != nil {
		return fmt.Errorf("board at %s: %w", name, err)
	}
	to, err := link.NewCompanion(board, &settings, p.thrust(), p.Times, p.Rate)
	if err != nil {
		return err
	}
	if p.Protocol != link.MSP {
		sticks, err := link.Open(p.Port, p.Protocol)
		if err != nil {
			return err
		}
		defer sticks.Close()
		if p.Protocol == link.CRSF {
			go board.Listen(sticks)
		}
		if to.Sender, err = link.NewSender(sticks, p.Protocol); err != nil {
			return err
		}
	}
	b.trouble.Store(nil)
	b.companion.Store(to)
	b.Log().Info().Msgf("board with MSP API %s at %s: rates profile %s", settings.Version, name, settings.Rates.Type)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { // which Run does not see while it sends nothing
		select {
		case <-board.Ended():
			stop()
		case <-ctx.Done():
		}
	}()
	return errors.Join(to.Run(ctx), board.Err())
}

// report publishes the board's state, at once where it changes, and its battery.
func (b *Bridge) report(ctx context.Context) {
	const look, every = 20 * time.Millisecond, 10
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	var last mavrosmsgs.State
	for turn := 0; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		m := mavrosmsgs.State{Mode: "no board"}
		if to := b.companion.Load(); to != nil {
			r, err := to.Report(ctx)
			if ctx.Err() != nil {
				return
			}
			if err == nil {
				m = stateOf(&r)
			}
			if err == nil && turn%every == 0 {
				b.battery(&r)
			}
		}
		if m == last && turn%every != 0 {
			continue
		}
		last = m
		m.Header.Stamp = bridge.Time(int64(b.Clock().Now()))
		if err := b.states.Publish(&m); err != nil {
			b.Log().Warn().Msg(err.Error())
		}
	}
}

// stateOf is what there is to say of a board.
func stateOf(r *link.Report) mavrosmsgs.State {
	m := mavrosmsgs.State{Connected: r.Known, Armed: r.Status.Armed(), Guided: r.State == link.Flying && !r.Failsafe,
		Mode: r.State.String()}
	if r.Failsafe {
		m.Mode = "failsafe: the board flies by itself"
	}
	return m
}

// battery publishes a new voltage.
func (b *Bridge) battery(r *link.Report) {
	if r.BatteryAt.IsZero() || r.Battery.Cells == 0 {
		return
	}
	m := sensormsgs.BatteryState{Voltage: float32(r.Battery.Voltage), Current: -float32(r.Battery.Current),
		Present: true}
	m.Header.Stamp = bridge.Time(int64(b.Clock().Now()))
	if err := b.batteries.Publish(&m); err != nil {
		b.Log().Warn().Msg(err.Error())
	}
}

// diagnose is the task "board".
func (b *Bridge) diagnose(ctx context.Context, s *diagnostics.Status) {
	s.Add("commands that came too late", b.stale.Load())
	to := b.companion.Load()
	if to == nil {
		text := "waits for the board"
		if t := b.trouble.Load(); t != nil {
			text = *t
		}
		s.Summary(diagnostics.Error, "%s", text)
		return
	}
	r, err := to.Report(ctx)
	if err != nil {
		return
	}
	level := diagnostics.OK
	if r.Refusal != "" || r.State == link.Silent || r.State == link.Foreign || r.State == link.Resting {
		level = diagnostics.Warn
	}
	s.Summary(level, "%s", r.State)
	s.Add("arming", r.Refusal)
	for _, w := range r.Status.Disabled.Words() {
		s.Add("does not arm", w)
	}
	s.Add("frames sent", r.Sent)
	s.Add("frames answered", r.Answered)
	s.Add("frames skipped", r.Skipped)
	s.Add("battery (V)", r.Battery.Voltage)
	if !r.ModeAt.IsZero() {
		s.Add("flight mode", r.Mode.Name)
	}
	if !r.LinkAt.IsZero() {
		s.Add("link quality", r.Link)
	}
}
