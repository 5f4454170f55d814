package torture

import (
	"math"
	"sync"

	"vnd/msgs"
	navmsgs "vnd/msgs/nav_msgs"
	rosgraphmsgs "vnd/msgs/rosgraph_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/flight/control"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/sim/campaign"
)

// relayed are the names under which quad_sim speaks to the relay, and the relay to the nodes by theirs.
var relayed = []string{"mocap/odom:=relay/odom", "/clock:=/quad/relay/clock", "command:=relay/command"}

// relay stands between the simulator and the nodes. Motion capture, time and commands pass through it, with a fault of
// the safety campaign.
type relay struct {
	clock    *ros.Publisher[rosgraphmsgs.Clock]
	odom     *ros.Publisher[navmsgs.Odometry]
	commands *ros.Publisher[msgs.ThrustRates]
	latents  *ros.Publisher[msgs.Latent]

	mu      sync.Mutex
	fault   campaign.Fault
	bundle  string  // that flies
	onset   float64 // of the fault, s
	begun   int64   // the simulator's time at first, ns; 0: none came
	now     float64 // s since then
	arrival float64 // of the last sample, s
	waiting []campaign.Sample
	stamps  map[int64]int64 // stamps by the simulator's time, of those that the nodes got, ns
	newest  int64           // that came, ns
	count   int             // of samples
	odomM   navmsgs.Odometry
}

func (f *field) newRelay() *relay {
	f.t.Helper()
	deep, often := node.CommandQoS(), node.MocapQoS()
	deep.Depth, often.Depth = 100, 100
	r := &relay{stamps: map[int64]int64{},
		clock:    must(ros.NewPublisher[rosgraphmsgs.Clock](f.n, "/clock", node.CommandQoS()))(f.t),
		odom:     must(ros.NewPublisher[navmsgs.Odometry](f.n, "/quad/mocap/odom", node.MocapQoS()))(f.t),
		commands: must(ros.NewPublisher[msgs.ThrustRates](f.n, "/quad/relay/command", node.CommandQoS()))(f.t),
		latents:  must(ros.NewPublisher[msgs.Latent](f.n, "/quad/latent", node.LatentQoS()))(f.t)}
	must(ros.NewSubscription(f.n, "/quad/relay/clock", deep, func(m *rosgraphmsgs.Clock, _ ros.Info) {
		r.time(bridge.Nanoseconds(m.Clock))
	}))(f.t)
	must(ros.NewSubscription(f.n, "/quad/relay/odom", often, func(m *navmsgs.Odometry, _ ros.Info) {
		r.sample(bridge.FromOdometry(m, bridge.PoseOptions{}))
	}))(f.t)
	must(ros.NewSubscription(f.n, "/quad/command", deep, func(m *msgs.ThrustRates, _ ros.Info) {
		r.command(m)
	}))(f.t)
	return r
}

// inject begins a fault; the zero Fault is none. Steps of the clock are taken back then, and samples that were on their
// way are lost, as where a driver begins anew.
func (r *relay) inject(f campaign.Fault, bundle string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault, r.bundle, r.onset = f, bundle, r.now
	r.waiting, r.arrival = r.waiting[:0], 0
}

func (r *relay) seconds(ns int64) float64 { return float64(ns-r.begun) / 1e9 }

// shown is what a clock with the fault shows at a time, ns.
func (r *relay) shown(t float64) int64 {
	if r.fault.Clock != nil {
		t += r.fault.Clock(t - r.onset)
	}
	return r.begun + int64(math.Round(t*1e9))
}

// time takes the simulator's.
func (r *relay) time(ns int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun == 0 {
		r.begun = ns
	}
	r.now = r.seconds(ns)
	_ = r.clock.Publish(&rosgraphmsgs.Clock{Clock: bridge.Time(r.shown(r.now))})
	r.release()
}

// sample takes one of motion capture.
func (r *relay) sample(p bridge.Pose) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun == 0 {
		return
	}
	r.newest = p.Stamp
	s := campaign.Sample{Stamp: r.seconds(p.Stamp), Arrival: r.now, State: p.State}
	t := s.Stamp - r.onset
	if r.count++; r.fault.Latent != nil && r.count%4 == 0 {
		r.latent(t)
	}
	if t >= 0 && r.fault.Mocap != nil && !r.fault.Mocap(t, &s) {
		return
	}
	r.arrival = max(r.arrival, s.Arrival)
	s.Arrival = r.arrival
	r.waiting = append(r.waiting, s)
	r.release()
}

// release hands the nodes what has arrived.
func (r *relay) release() {
	n := 0
	for ; n < len(r.waiting) && r.waiting[n].Arrival <= r.now; n++ {
		s := &r.waiting[n]
		stamp := r.begun + int64(math.Round(s.Stamp*1e9))
		own := stamp
		if r.fault.Stamps {
			stamp = r.shown(s.Stamp)
		}
		if len(r.stamps) > 1000 {
			clear(r.stamps)
		}
		r.stamps[stamp] = own
		bridge.PutOdometry(&r.odomM, stamp, "world", "base_link", s.State)
		_ = r.odom.Publish(&r.odomM)
	}
	r.waiting = append(r.waiting[:0], r.waiting[n:]...)
}

// command hands the simulator one, stamped by its own time.
func (r *relay) command(m *msgs.ThrustRates) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault.Sent != nil && !r.fault.Sent(r.now-r.onset) {
		return
	}
	stamp, ok := r.stamps[bridge.Nanoseconds(m.Header.Stamp)]
	if !ok || r.fault.Mocap != nil { // time waits for no sample that is lost or late
		stamp = r.newest
	}
	m.Header.Stamp = bridge.Time(stamp)
	_ = r.commands.Publish(m)
}

// latent publishes one beside the encoder's.
func (r *relay) latent(t float64) {
	z := control.Latent{Stamp: r.newest, Bundle: r.bundle, Mean: make([]float32, latentSize)}
	if r.fault.Latent(t, &z) {
		m := msgs.NewLatent()
		bridge.PutLatent(m, &z)
		_ = r.latents.Publish(m)
	}
}

// latentSize is that of the bundles that fly, as modest has it.
const latentSize = 4
