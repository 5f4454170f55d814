package torture

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"vnd/pkg/ros2/dds/fastdds"
	"vnd/pkg/ros2/rmw"
)

// residentMiB is the memory of a process.
func residentMiB(t *testing.T, p *process) float64 {
	t.Helper()
	var pages, in int
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	if err == nil {
		_, err = fmt.Sscan(string(text), &pages, &in)
	}
	if err != nil || in == 0 {
		t.Fatalf("%s has ended: %v; it said:\n%s", p.name, err, p.log)
	}
	return float64(in) * float64(os.Getpagesize()) / (1 << 20)
}

// hostile is a flying graph with an attacker beside it.
type hostile struct {
	*field
	attacker
	nodes   []*process
	sockets []*net.UDPConn
	began   time.Time
	rate    float64 // packets a second
	each    time.Duration
	times   int // as many of what is counted
}

// network is a middleware that the graph speaks, and how an attacker speaks to it.
type network struct {
	name   string
	vendor byte // by RTPS
	domain int
	tag    string  // of participants; Fast DDS knows none
	posing float64 // MiB that a node may grow by under its own graph's names
}

// networks are those of both middlewares. Without a tag, the domain alone keeps a graph from those of other tests.
func networks() []network {
	return []network{{rmw.Cyclone, 16, 1 + os.Getpid()%100, fmt.Sprintf("vnd_test_%d", os.Getpid()), mostGrowth},
		{rmw.FastDDS, 15, 101 + os.Getpid()%99, "", 4 * mostGrowth}}
}

// env is that of a process. The test itself is on Cyclone DDS, which other settings let record what it hears.
func (n *network) env(middleware, settings string) []string {
	return []string{"RMW_IMPLEMENTATION=" + middleware, fmt.Sprintf("ROS_DOMAIN_ID=%d", n.domain),
		"CYCLONEDDS_URI=<Discovery><Tag>" + n.tag + "</Tag></Discovery>" + settings}
}

// newHostile has a flight in lockstep, whose network an attacker has listened to.
func newHostile(t *testing.T, n network) *hostile {
	t.Helper()
	capture := filepath.Join(t.TempDir(), "capture.pcap")
	h := &hostile{began: time.Now(), rate: 4000, each: 300 * time.Millisecond, times: 1}
	settings := "<Tracing><PacketCaptureFile>" + capture + "</PacketCaptureFile></Tracing>"
	h.field = newField(t, n.env(rmw.Cyclone, settings)...)
	h.field.env = n.env(n.name, "")
	if s := os.Getenv("VND_HOSTILE"); s != "" { // seconds of each attack
		seconds := must(strconv.ParseFloat(s, 64))(t)
		h.rate, h.each, h.times = 10_000, time.Duration(seconds*1e9), 3
	}
	h.attacker.Rand, h.on = rand.New(rand.NewPCG(3, 4)), n
	file, sim := "bundle_file:="+bundleFile(t), "use_sim_time:=true"
	h.nodes = append(h.nodes, h.start("transition_recorder", "directory:="+h.data, "bag.least_free:=0", sim),
		h.start("latent_encoder", file, sim),
		h.start("policy_controller", file, sim, "autostart:=true", "diagnostic_updater.period:=0.2"),
		h.start("quad_sim", "lockstep:=true", "lockstep_paced:=true", "lockstep_patience:=3.0",
			"diagnostic_updater.period:=0.2"))
	h.until("flight under the policy and its latents", func() bool {
		return h.flies(0, 100) && h.steps[len(h.steps)-1].latent
	})
	h.captured = messagesIn(must(os.ReadFile(capture))(t))
	h.victims = writersIn(h.captured)
	h.reach()
	h.introduce()
	if len(h.captured) < 100 || len(h.victims) < 10 {
		t.Fatalf("%d messages of %d writers were captured", len(h.captured), len(h.victims))
	}
	return h
}

// reach opens sockets to the graph's ports.
func (h *hostile) reach() {
	h.t.Helper()
	for k := range 2 * (len(h.nodes) + 2) { // RTPS 2.5, §9.6.2.3: metatraffic and data of each participant
		h.ports = append(h.ports, 7400+250*h.on.domain+10+k)
		c := must(net.DialUDP("udp", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: h.ports[k]}))(h.t)
		h.t.Cleanup(func() { c.Close() })
		h.sockets = append(h.sockets, c)
	}
}

// introduce has all nodes take some strangers for participants, which a flood alone may not.
func (h *hostile) introduce() {
	for range 3 { // packets get lost
		for i := range acquaintances {
			if len(h.known) <= i {
				h.stranger()
			}
			packet := h.announce(h.known[i], h.home(), 0)
			for _, s := range h.sockets {
				_, _ = s.Write(packet)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// strike sends the packets of an attack for its time, to all ports of the graph, and returns how many.
func (h *hostile) strike(x *attack) (n int) {
	most := x.most * h.times
	due := func(begun time.Time) int { return int(h.rate * min(time.Since(begun), h.each).Seconds()) }
	for begun := time.Now(); time.Since(begun) < h.each && (most == 0 || n < most); {
		for late := due(begun); n < late && (most == 0 || n < most); n++ {
			packet := x.next(&h.attacker, n)
			if packet == nil {
				continue
			}
			if x.most != 0 { // each has to know of it
				for _, s := range h.sockets {
					_, _ = s.Write(packet) // a port without a listener refuses
				}
			} else {
				_, _ = h.sockets[n%len(h.sockets)].Write(packet)
			}
		}
		time.Sleep(time.Millisecond)
	}
	return n
}

// missedTicks is the controller's count of them, once it has come anew.
func (h *hostile) missedTicks() int {
	h.t.Helper()
	h.note(func() { h.missed = "" })
	h.until("a diagnosis", func() bool { return h.missed != "" })
	h.mu.Lock()
	defer h.mu.Unlock()
	return must(strconv.Atoi(h.missed))(h.t)
}

// taken counts steps of others than the policy from the i-th on.
func (h *hostile) taken(from int) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.steps[from:] {
		if !s.stage.PolicyFlies() {
			n++
		}
	}
	return n
}

// Limits of each node.
const (
	mostGrowth = 64      // MiB
	mostLog    = 1 << 18 // bytes that it may write in 20 s
)

// flown strikes with all attacks, and returns ticks missed and ticks that the policy did not fly.
func (h *hostile) flown(attacks []attack) (missed, taken int) {
	h.t.Helper()
	before, steps := h.missedTicks(), h.count()
	h.endure(attacks, mostGrowth)
	return h.missedTicks() - before, h.taken(steps)
}

// endure strikes with all attacks, one after the other, and holds each node's memory to a limit, MiB.
func (h *hostile) endure(attacks []attack, most float64) {
	h.t.Helper()
	numbered, from := h.ticks(), time.Now()
	had := make([]float64, len(h.nodes))
	for i, p := range h.nodes {
		had[i] = residentMiB(h.t, p)
	}
	for i := range attacks {
		x := &attacks[i]
		before := h.count()
		begun := time.Now()
		sent := h.strike(x)
		took := time.Since(begun).Seconds()
		report := []string{}
		for k, p := range h.nodes {
			now := residentMiB(h.t, p)
			report = append(report, fmt.Sprintf("%s %+.1f", p.name, now-had[k]))
			if now-had[k] > most {
				h.t.Errorf("%s: %s has %.0f MiB more", x.name, p.name, now-had[k])
			}
			if n := p.log.Len(); n > mostLog*(1+int(time.Since(h.began)/(20*time.Second))) {
				h.t.Errorf("%s: %s has written %d bytes", x.name, p.name, n)
			}
		}
		h.t.Logf("%s: %d packets; %.0f ticks/s, %d not of the policy; MiB since the start: %s", x.name, sent,
			float64(h.count()-before)/took, h.taken(before), strings.Join(report, ", "))
	}
	h.t.Logf("%.0f ticks/s by their numbers", float64(h.ticks()-numbered)/time.Since(from).Seconds())
}

// ticks is the number of the newest step that came.
func (h *hostile) ticks() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.steps[len(h.steps)-1].seq
}

// TestHostileNetwork sends what an attacker would into the network of a flying graph: no node ends, grows by more than
// 64 MiB, or fills a disk with its log. Under names of the attacker's own no tick is missed that idling has not missed.
// Under those of the graph, which SROS 2 alone protects, the robot stays inside the fence. VND_HOSTILE is the time of
// each attack, s; there are three times as many strangers then.
func TestHostileNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("four processes")
	}
	for _, n := range networks() {
		t.Run(n.name, func(t *testing.T) {
			if err := fastdds.Installed(); n.name == rmw.FastDDS && err != nil {
				t.Skip(err)
			}
			besiege(newHostile(t, n))
		})
	}
}

// besiege has a graph endure all attacks.
func besiege(h *hostile) {
	h.t.Helper()
	idleMissed, idleTaken := h.flown([]attack{{name: "nothing", next: func(*attacker, int) []byte { return nil }}})
	missed, taken := h.flown(ofStrangers)
	h.mu.Lock()
	starved := h.starved
	h.mu.Unlock()
	h.t.Logf("%d ticks missed, %d not of the policy; idle %d and %d; the processor was away for %v", missed, taken,
		idleMissed, idleTaken, starved)
	if share := float64(len(ofStrangers)); starved < 40*time.Millisecond &&
		(float64(missed) > share*float64(idleMissed) || float64(taken) > share*float64(idleTaken)) {
		h.t.Errorf("%d ticks missed, %d not of the policy, idle %d and %d", missed, taken, idleMissed, idleTaken)
	}
	if n := len(h.n.Context().Graph().Publishers("/quad/command")); n < 100 {
		h.t.Errorf("the graph has %d writers of commands: strangers' are not taken, as they are to be here", n)
	}
	steps := h.count()
	h.until("flight after strangers' attacks", func() bool { return h.flies(steps, 50) })
	steps = h.count()
	h.endure(asTheGraph, h.on.posing)
	h.t.Logf("under the graph's names: %d of %d ticks that came were not of the policy", h.taken(steps),
		h.count()-steps)
	h.until("the end", func() bool { return true }) // inside the fence
}
