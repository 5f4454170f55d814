package torture

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/sim"
	"vnd/pkg/sim/campaign"
	"vnd/pkg/vnd/bundle"
)

// endurance is the whole graph in flight, one fault after the other.
type endurance struct {
	*field
	relay     *relay
	simulator *process
	nodes     []*process // that are killed and stopped in turn
	attacks   *hostile
	policies  *campaign.Policies
	rng       *rand.Rand
	last      string        // fault, as injected
	every     time.Duration // between the beginnings of two faults, at least
	begun     time.Time

	triggers      map[string]*ros.Client[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse]
	setTask       *ros.Client[msgs.SetTaskRequest, msgs.SetTaskResponse]
	setParameters *ros.Client[rclinterfaces.SetParametersRequest, rclinterfaces.SetParametersResponse]
	bundleTopic   *ros.Publisher[msgs.Bundle]
	steps200      *ros.Publisher[msgs.Step]
	bodies        []*ros.Publisher[geometrymsgs.PoseStamped]

	killed, stopped int // turns
	lives           map[*process]int
	counts          map[*process][]census
	counted         time.Time
	tallies         map[string]*tally
	failures        []string
	touch           touchdowns
	grounded        bool // the robot does not fly since an accident, of which all is said
}

// tally is what became of the faults of a kind.
type tally struct {
	flown, held, landed, failed int
	longest                     time.Duration // until the policy flew again
}

// orderPatience is how long an answer is waited for.
const orderPatience = 5 * time.Second

func newEndurance(t *testing.T, every time.Duration) *endurance {
	t.Helper()
	e := &endurance{field: newField(t), every: every, rng: drawn(), begun: time.Now(), lives: map[*process]int{},
		counts: map[*process][]census{}, tallies: map[string]*tally{},
		triggers: map[string]*ros.Client[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse]{}}
	e.policies = must(campaign.NewPolicies(e.ctx, must(bundle.Read(bundleFile(t)))(t), nil))(t)
	e.relay = e.newRelay()
	e.connect()
	e.take()
	e.attacks = &hostile{field: e.field, rate: 2000, each: 3 * time.Second, times: 1, nodes: e.nodes}
	e.attacks.Rand, e.attacks.on = e.rng, networks()[0]
	e.attacks.reach()
	e.attacks.sockets = e.attacks.sockets[2:] // the test itself came first
	return e
}

// connect makes what the soak asks the nodes by.
func (e *endurance) connect() {
	const controller = "/quad/policy_controller/"
	for _, name := range []string{controller + "takeoff", controller + "land", controller + "reset_guard",
		"/quad/quad_sim/reset"} {
		e.triggers[filepath.Base(name)] = must(ros.NewClient[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse](e.n,
			name))(e.t)
	}
	e.setTask = must(ros.NewClient[msgs.SetTaskRequest, msgs.SetTaskResponse](e.n, controller+"set_task"))(e.t)
	e.setParameters = must(ros.NewClient[rclinterfaces.SetParametersRequest, rclinterfaces.SetParametersResponse](e.n,
		controller+"set_parameters"))(e.t)
	e.bundleTopic = must(ros.NewPublisher[msgs.Bundle](e.n, "/quad/bundle", node.LatchedQoS()))(e.t)
	e.steps200 = must(ros.NewPublisher[msgs.Step](e.n, "/quad/flood/step", node.StepQoS()))(e.t)
	e.bodies = e.bodiesOf(flooded)
	feet := sim.Default().Ground.Feet
	must(ros.NewSubscription(e.n, "/quad/quad_sim/ground_truth", node.MocapQoS(),
		func(m *navmsgs.Odometry, _ ros.Info) {
			s := bridge.FromOdometry(m, bridge.PoseOptions{}).State
			e.touch.look(s.P.Z > feet+0.01, s.V, e.lately)
		}))(e.t)
}

// flooded are bodies that the recorder keeps besides.
var flooded = []string{"mocap/body0", "mocap/body1", "mocap/body2", "mocap/body3"}

// steady is a world in a light wind, as the campaign has it. One that turns while there are no states would carry the
// robot along.
const steady = `world:
  ros__parameters:
    conditions:
      name: ["wind"]
      wind_x: [0.7]
`

// take starts all nodes, and waits until they fly.
func (e *endurance) take() {
	e.t.Helper()
	e.env = []string{listing(e.period())}
	file, simulated, data := "bundle_file:="+bundleFile(e.t), "use_sim_time:=true", "directory:="+e.data
	topics := "topics:=['command','latent','bundle','learner/status','mocap/odom','" + strings.Join(flooded, "','") +
		"']"
	controller, guard := e.startController(true, simulated, file, "state_source:=odometry")
	e.nodes = []*process{controller, guard, e.start("latent_encoder", simulated, file),
		e.start("transition_recorder", simulated, data, topics, "bag.least_free:=0"),
		e.start("background_learner", append([]string{simulated, data, file}, modest...)...),
		e.start("visualizer", simulated, "page.port:=0")}
	world := filepath.Join(e.data, "world.yaml")
	if err := os.WriteFile(world, []byte(steady), 0o644); err != nil {
		e.t.Fatal(err)
	}
	e.simulator = e.startRemapped("quad_sim", relayed, "world:="+world, "lockstep:=true", "lockstep_paced:=true",
		"lockstep_patience:=0.1", "step:=0.005", "diagnostic_updater.period:=0.2", onTheGround)
	if how := e.again(0); how == "failed" {
		e.t.Fatalf("the graph does not fly at first: %v", e.failures)
	}
}

// fail notes what must not be.
func (e *endurance) fail(format string, args ...any) {
	line := fmt.Sprintf("after %v, last %s: ", time.Since(e.begun).Round(time.Second), e.last) +
		fmt.Sprintf(format, args...)
	e.failures = append(e.failures, line)
	e.t.Error(line)
}

// newest is the last step.
func (e *endurance) newest() (s seenStep) {
	e.note(func() {
		if n := len(e.steps); n > 0 {
			s = e.steps[n-1]
		}
	})
	return s
}

// trigger calls a service, and returns its answer; empty where none came.
func (e *endurance) trigger(name string) string {
	ctx, cancel := context.WithTimeout(e.ctx, orderPatience)
	defer cancel()
	r, err := e.triggers[name].Call(ctx, &stdsrvs.TriggerRequest{})
	if err != nil {
		return ""
	}
	return r.Message
}

func (e *endurance) message(b *bundle.Bundle) *msgs.Bundle {
	data := must(b.Encode())(e.t)
	return &msgs.Bundle{ID: b.ID, Parent: b.Parent, Robot: b.Robot, Task: b.Task, Data: slices.Clone(data),
		Sha256: sha256.Sum256(data)}
}

// period is between two censuses.
func (e *endurance) period() time.Duration { return min(time.Minute, 4*e.every) }

// pass lets time pass, and looks after the processes.
func (e *endurance) pass(d time.Duration) {
	for end := time.Now().Add(d); ; time.Sleep(min(100*time.Millisecond, time.Until(end))) {
		e.look()
		if !time.Now().Before(end) {
			return
		}
	}
}

// look notes what must not be, and takes the census.
func (e *endurance) look() {
	outside := ""
	e.note(func() { outside, e.outside = e.outside, "" })
	if outside != "" && !e.grounded {
		e.fail("%s", outside)
		e.grounded = true
	}
	for _, hard := range e.touch.read() {
		e.fail("%s", hard)
	}
	all := append(slices.Clone(e.nodes), e.simulator)
	for _, p := range all {
		if p.cmd != nil && p.dead() {
			err := p.cmd.Wait()
			e.fail("%s has ended by itself: %v; it said:\n%s", p.name, err, p.log)
			p.again()
			e.lives[p]++
		}
	}
	if time.Since(e.counted) < e.period() {
		return
	}
	e.counted = time.Now()
	for _, p := range all {
		if p.cmd != nil {
			e.counts[p] = append(e.counts[p], p.count(e.lives[p]))
		}
	}
}

// strike injects a fault, removes it, and sees to it that the policy flies again.
func (e *endurance) strike(k *kind) {
	if e.grounded {
		e.again(e.count())
	}
	e.note(func() { e.steps = e.steps[:0] })
	begun := time.Now()
	what, remove := k.inject(e)
	e.last = fmt.Sprintf("%s (%s)", k.name, what)
	e.pass(time.Duration((0.3 + 5*e.rng.Float64()) * float64(time.Second)))
	remove()
	removed := time.Now()
	how := e.again(e.count())
	took := time.Since(removed)
	t := e.tallies[k.name]
	if t == nil {
		t = &tally{}
		e.tallies[k.name] = t
	}
	t.longest = max(t.longest, took)
	*map[string]*int{"flown": &t.flown, "held": &t.held, "landed": &t.landed, "failed": &t.failed}[how]++
	e.t.Logf("%v: %s (%s): %s, %v after its end", time.Since(e.begun).Round(time.Second), k.name, what, how,
		took.Round(100*time.Millisecond))
	e.pass(e.every - time.Since(begun))
}

// report says what became of all faults, and what the processes had.
func (e *endurance) report() {
	faults := 0
	var table strings.Builder
	for _, k := range kinds() {
		if t := e.tallies[k.name]; t != nil {
			n := t.flown + t.held + t.landed + t.failed
			faults += n
			fmt.Fprintf(&table, "| %s | %d | %d | %d | %d | %d | %.1f s |\n", k.name, n, t.flown, t.held, t.landed,
				t.failed, t.longest.Seconds())
		}
	}
	e.t.Logf("%d faults in %v, %d touch-downs at %.2f m/s at most, %d failures\n| fault | injected | the policy flew "+
		"on | held | landed, took off | failed | longest until the policy flew |\n|---|---|---|---|---|---|---|\n%s",
		faults, time.Since(e.begun).Round(time.Second), e.touch.n, e.touch.fastest, len(e.failures), table.String())
	table.Reset()
	for _, p := range append(slices.Clone(e.nodes), e.simulator) {
		fmt.Fprintf(&table, "| %s | %d |", p.name, e.lives[p])
		kept := settled(e.counts[p], e.begun, time.Now())
		for q := range quantities {
			first, last := e.bounds(p, q)
			slope, off := growth(kept, q)
			shows := verdict(q, slope, off)
			fmt.Fprintf(&table, " %.0f, %.0f; %+.1f ± %.1f, %s |", first, last, slope, 2*off, shows)
			if wrong(q, shows, time.Since(e.begun)) {
				e.fail("%s: growth of %s is %s: %.1f ± %.1f an hour, expected at most %v", p.name,
					quantities[q].name, shows, slope, 2*off, quantities[q].most)
			}
		}
		table.WriteString("\n")
	}
	e.t.Logf("first, last; growth an hour, what it shows\n| process | started anew | memory, MiB | live heap, MiB "+
		"| files | threads | goroutines |\n|---|---|---|---|---|---|---|\n%s", table.String())
	e.t.Logf("%d rounds of learning, %d bundles, %d latents; the machine had no time for us for %v", e.learned(),
		e.bundles, e.latents, e.late())
}

// bounds are the first and the last known number of a quantity of a process that had warmed up, or else of any.
func (e *endurance) bounds(p *process, quantity int) (first, last float64) {
	first, last = math.NaN(), math.NaN()
	all := settled(e.counts[p], e.begun, e.begun)
	if len(all) == 0 {
		all = e.counts[p]
	}
	for _, c := range all {
		if x := c.has[quantity]; !math.IsNaN(x) {
			if math.IsNaN(first) {
				first = x
			}
			last = x
		}
	}
	return first, last
}

// TestGraphSoak flies the whole graph for VND_GRAPH_SOAK, with a fault every VND_FAULT_EVERY (30 s) or as soon as the
// policy flies again. No process may end by itself or grow, and the robot may not hit anything at speed.
func TestGraphSoak(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("VND_GRAPH_SOAK"))
	if err != nil {
		t.Skip("VND_GRAPH_SOAK is not set to a time: make graph-soak does")
	}
	every := 30 * time.Second
	if text := os.Getenv("VND_FAULT_EVERY"); text != "" {
		every = must(time.ParseDuration(text))(t)
	}
	e := newEndurance(t, every)
	all := slices.DeleteFunc(kinds(), func(k kind) bool { return !strings.Contains(k.name, os.Getenv("VND_FAULTS")) })
	if len(all) == 0 {
		t.Fatalf("VND_FAULTS is %q, expected part of a fault's name", os.Getenv("VND_FAULTS"))
	}
	for end := e.begun.Add(length); time.Now().Before(end); {
		e.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for k := range all {
			left := time.Until(end)
			if left > 0 && !(all[k].kills && length >= judged && left < lastLife) {
				e.strike(&all[k])
			}
		}
	}
	e.report()
}
