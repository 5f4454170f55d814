package torture

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
)

// modest has the learner learn with little of the machine, all the time in the long tests. Its nets are of the sizes
// of bundleFile.
var modest = []string{"new_rows:=" + map[bool]string{true: "300", false: "3000"}[long()], "fit.model.latent:=4",
	"fit.model.hidden:=16", "fit.model.encoder_hidden:=16", "fit.model.encoder_dense:=16",
	"fit.model.decoder_hidden:=8",
	"nice:=15", "threads:=1", "max_rows:=5000", "keep_bundles:=3", "least_data:=5.0",
	"fit.train.updates:=60", "fit.train.batch:=16", "fit.loss.steps:=5", "fit.warm_start.updates:=30",
	"fit.warm_start.batch:=16",
	"policy.hidden:=16", "policy.epochs:=10", "policy.rate:=0.0002", "fine_tune.epochs:=10",
	"fine_tune.rate:=0.0002", "policy.envs:=16", "policy.horizon:=40", "policy.flights:=1",
	"gate.shadow.flights:=4", "gate.shadow.seconds:=1.0", "gate.shadow.settle:=0.5", "gate.canary.flights:=4",
	"gate.canary.settle:=0.5",
	"gate.resamples:=100", "judge.seconds:=2.0", "judge.wind:=0.5"}

// killed is a kill, and when what was started anew had joined in, on the wall.
type killed struct {
	name     string
	at, back time.Time
}

// squad is the four nodes that are killed while quad_sim flies.
type squad struct {
	*field
	nodes map[string]*process
	kills []killed
	begun int // steps heard before all nodes were there
}

func newSquad(t *testing.T) *squad {
	t.Helper()
	f := newField(t)
	s := &squad{field: f, nodes: map[string]*process{}}
	file, sim, data := "bundle_file:="+bundleFile(t), "use_sim_time:=true", "directory:="+f.data
	wait := "lockstep_patience:=3.0" // a controller that is busy is no dead one
	learner := append([]string{sim, data, file}, modest...)
	if long() {
		wait = "lockstep_patience:=0.5"
	} else {
		learner = append(learner, "nice:=0") // what is started anew is waited for
	}
	s.nodes["transition_recorder"] = f.start("transition_recorder", sim, data, "buffer.segment_seconds:=1.0",
		"bag.least_free:=0")
	s.nodes["latent_encoder"] = f.start("latent_encoder", sim, file)
	s.nodes["background_learner"] = f.start("background_learner", learner...)
	s.nodes["policy_controller"] = f.start("policy_controller", sim, file, "autostart:=true",
		"diagnostic_updater.period:=0.2")
	world := must(filepath.Abs(filepath.Join("..", "learner", "testdata", "gusty.yaml")))(t)
	f.start("quad_sim", "world:="+world, "lockstep:=true", "lockstep_paced:=true", wait,
		"diagnostic_updater.period:=0.2")
	f.until("flight under the policy and its latents, with a learner", func() bool {
		return f.flies(0, 50) && f.steps[len(f.steps)-1].latent && f.bundles > 0
	})
	f.until("a bag", func() bool { return s.live() > 0 })
	s.begun = f.count()
	return s
}

// bags are their folders, oldest first.
func (s *squad) bags() []string {
	all, _ := filepath.Glob(filepath.Join(s.data, "bags", "rosbag2_*"))
	return all
}

// live is how many steps the newest bag has on disk; 0 where there is none. A bag that a killed recorder left looks
// for a while as if it were recorded still.
func (s *squad) live() uint64 {
	bags := s.bags()
	if len(bags) == 0 {
		return 0
	}
	info, err := bag.Info(bags[len(bags)-1])
	if err != nil || !info.Live {
		return 0
	}
	for _, topic := range info.Topics {
		if topic.Name == "/quad/step" {
			return topic.Count
		}
	}
	return 0
}

// strike kills a node, starts it anew after a while and waits until it has joined in.
func (s *squad) strike(name string, after time.Duration) {
	s.t.Helper()
	p := s.nodes[name]
	s.mu.Lock()
	steps, latents, bundles, old := len(s.steps), s.latents, s.bundles, s.steps[len(s.steps)-1].publisher
	s.mu.Unlock()
	bags := len(s.bags())
	k := killed{name: name, at: time.Now()}
	p.kill()
	time.Sleep(after)
	p.again()
	s.until(name+" has joined in", func() bool {
		flies := s.flies(steps, 25)
		switch name {
		case "policy_controller":
			return flies && s.steps[len(s.steps)-1].publisher != old && s.place.Z > 0.5
		case "latent_encoder":
			return flies && s.latents > latents && s.steps[len(s.steps)-1].latent
		case "background_learner":
			return flies && s.bundles > bundles
		}
		return flies && len(s.bags()) > bags && s.live() > 0
	})
	k.back = time.Now()
	s.kills = append(s.kills, k)
}

// TestKilled kills each of the nodes at random moments: the robot stays inside the geofence, no more than a second of
// what was flown is lost, and what is started anew joins in without a hand.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("five processes")
	}
	rounds := 1
	if long() {
		rounds = 20
	}
	s := newSquad(t)
	rng := rand.New(rand.NewPCG(1, 2))
	names := []string{"policy_controller", "latent_encoder", "transition_recorder", "background_learner"}
	between := func(low, high float64) time.Duration {
		return time.Duration((low + rng.Float64()*(high-low)) * float64(time.Second))
	}
	for k := range rounds {
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			time.Sleep(between(0.05, 1))
			after := between(0, 0.2)
			if long() {
				after = between(0, 5) // so that the autopilot lands now and then
			}
			s.strike(name, after)
		}
		if long() {
			t.Logf("round %d of %d", k+1, rounds)
		}
	}
	n := s.count()
	s.nodes["transition_recorder"].end()
	s.until("the end", func() bool { return true }) // inside the geofence
	longest := time.Duration(0)
	for _, k := range s.kills {
		longest = max(longest, k.back.Sub(k.at))
	}
	t.Logf("%d kills, back in at most %v, %d rounds of learning", len(s.kills), longest, s.learned())
	s.kept(n)
}

// kept compares what was heard with what is on disk: all of it, but a second before a recorder was killed, and what
// came before a new recorder, or a new controller, was known to the other. It looks at the first n steps.
func (s *squad) kept(n int) {
	s.t.Helper()
	there := map[string]stamps{"bags": s.recorded(), "buffer": s.learnable()}
	s.mu.Lock()
	defer s.mu.Unlock()
	slack := 2*s.starved + 100*time.Millisecond // of a machine that is busy
	for where, found := range there {
		lost := 0
		for _, h := range s.steps[s.begun:n] {
			if !h.stage.PolicyFlies() || found.has(h.stamp) || s.excused(h.at, time.Second+slack) {
				continue
			}
			if lost++; lost == 1 {
				s.t.Logf("step %d, %v after the first, is not in the %s", h.seq, h.at.Sub(s.steps[s.begun].at), where)
			}
		}
		const ends = 2 // rows that wait for their successor
		if lost > ends {
			s.t.Errorf("%d of %d steps are not in the %s; the machine had no time for us for %v", lost, n-s.begun,
				where, s.starved)
			for _, k := range s.kills {
				s.t.Logf("%s killed after %v, back after %v", k.name, k.at.Sub(s.steps[s.begun].at),
					k.back.Sub(s.steps[s.begun].at))
			}
		}
	}
	s.t.Logf("%d kills, %d steps", len(s.kills), n-s.begun)
}

// excused reports whether the recorder need not have what was heard at an instant.
func (s *squad) excused(at time.Time, before time.Duration) bool {
	for _, k := range s.kills {
		from := k.at
		switch k.name {
		case "transition_recorder":
			from = from.Add(-before)
		case "policy_controller":
		default:
			continue
		}
		if at.After(from) && at.Before(k.back) {
			return true
		}
	}
	return false
}

// stamps are instants, to some 10 µs: float64 seconds round.
type stamps map[int64]bool

const grain = 10_000 // ns

func (s stamps) add(ns int64) { s[ns/grain] = true }

func (s stamps) has(ns int64) bool { return s[ns/grain] || s[ns/grain-1] || s[ns/grain+1] }

// recorded are the stamps of the steps in the bags.
func (s *squad) recorded() stamps {
	s.t.Helper()
	found := stamps{}
	for _, dir := range s.bags() {
		b := must(bag.Open(dir))(s.t)
		defer b.Close()
		for m, err := range b.Messages("/quad/step") {
			if err != nil {
				s.t.Fatal(err)
			}
			var d cdr.Decoder
			var step msgs.Step
			d.Reset(m.Data)
			step.UnmarshalCDR(&d)
			if err := d.Finish(); err != nil {
				s.t.Fatal(err)
			}
			found.add(bridge.Nanoseconds(step.Header.Stamp))
		}
	}
	return found
}

// learnable are the stamps of the rows in the buffer. A flight's times count from its beginning.
func (s *squad) learnable() stamps {
	s.t.Helper()
	segments, _, err := dataset.ReadDir(filepath.Join(s.data, "buffer"), 0.02)
	if err != nil {
		s.t.Fatal(err)
	}
	found := stamps{}
	for _, g := range segments {
		begun, ok := dataset.FlightStart(g.Flight)
		if !ok {
			s.t.Fatalf("flight %q", g.Flight)
		}
		for _, r := range g.Rows {
			found.add(begun + int64(r.T*1e9))
		}
	}
	return found
}
