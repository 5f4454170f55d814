// Package demo flies a simulated quadrotor with the real nodes, each a process of its own, over the real wire: wind
// comes, goes and returns, and meanwhile the background learner learns from the flight, and what passes its gate is
// swapped in. The demo is one more node that listens: it reports what happens, and in the end what it came to, as a
// table, as a report with pictures and as a bag.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"vnd/pkg/learning/task"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/sim"
	"vnd/pkg/vnd/bundle"
)

// Options of a demo.
type Options struct {
	Programs string   // folder of the nodes' programs
	Params   []string // parameter files for all nodes; what a later one says counts
	World    string   // parameter file of the world
	Bundle   string   // to begin with; empty: a first policy is trained
	Task     string   // of the flight: hover or track, or features, which is then learned alone
	Seconds  float64  // of flight
	Seed     uint64
	Out      string // folder of what stays: it is replaced as a whole, or in a failure left as it was
	// Lockstep has time wait for each command, and is published on /clock: for machines that are busy with other
	// things.
	Lockstep bool
	// Simulator is that of an arm, as manipulation.NewWorld names them.
	Simulator string
	Getenv    func(string) string // nil is os.Getenv
	Say       func(line string)   // takes what happens, a line each

	atLeast int // bundles that have to have moved an arm before the demo ends, for tests
}

// How long nothing may be heard: while a first policy is trained, and in flight.
const (
	slowest = 10 * time.Minute
	silence = 2 * time.Minute
)

// Run flies the demo until its time is over, or ctx is done. The processes have ended when it returns.
func Run(ctx context.Context, o Options) (f *Result, err error) {
	d, err := prepare(o)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(d.dir) // what did not become Out
	err = d.fly(ctx)
	if stopping := d.fleet.stop(); err == nil {
		err = stopping
	}
	var r Record
	if d.listener != nil {
		r = d.record()
		err = errors.Join(err, d.listener.close())
	}
	if err != nil {
		return nil, err
	}
	f = r.Measure()
	f.World, f.Task, f.Trips = o.World, o.Task, d.trips
	f.Bag, f.Report = filepath.Join(d.Out, bagName), filepath.Join(d.Out, pageName)
	return f, d.keep(func(w io.Writer) error { return r.Report(w, f) })
}

// demo is one at work.
type demo struct {
	Options
	dir       string // of what the nodes write, until it becomes Out
	env       map[string]string
	failed    failures
	namespace string         // of the robot
	first     *bundle.Bundle // that of Options.Bundle
	fleet
	*listener
}

// failures says why the demo cannot go on; only the first counts.
type failures chan error

func (f failures) report(err error) {
	select {
	case f <- err:
	default:
	}
}

// newDemo makes one of a robot in a namespace, whose programs are there.
func newDemo(o Options, space string, programs []string) (*demo, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	d := &demo{Options: o, failed: make(failures, 1), namespace: space}
	d.fleet = fleet{programs: o.Programs, patience: endsWithin, say: o.Say, failed: d.failed}
	return d, d.fleet.check(programs)
}

// prepare looks whether everything is there, and makes the folder.
func prepare(o Options) (*demo, error) {
	d, err := newDemo(o, space, programs)
	if err != nil {
		return nil, err
	}
	if _, err := sim.Load(o.World); err != nil {
		return nil, err
	}
	if !(o.Seconds > 0) {
		return nil, fmt.Errorf("a flight of %g s, expected more than none", o.Seconds)
	}
	paths := []*string{&d.Options.World}
	if d.Bundle != "" {
		if d.first, err = bundle.Read(d.Bundle); err != nil {
			return nil, err
		}
		paths = append(paths, &d.Options.Bundle)
	}
	return d, d.settle(paths...)
}

// settle makes paths absolute, and the folder and the environment of the nodes.
func (d *demo) settle(paths ...*string) (err error) {
	for _, path := range append(append(paths, &d.Options.Out), pointers(d.Params)...) {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(d.Out), 0o777); err != nil {
		return err
	}
	d.dir, err = os.MkdirTemp(filepath.Dir(d.Out), "."+filepath.Base(d.Out)+"-")
	d.environment()
	return err
}

func pointers(s []string) (p []*string) {
	for i := range s {
		p = append(p, &s[i])
	}
	return p
}

// environment is one in which the demo's processes meet, and nobody else unless asked: the user's ROS_DOMAIN_ID, or one
// that nobody on this machine has, on the loopback.
func (d *demo) environment() {
	domain := d.Getenv("ROS_DOMAIN_ID")
	if domain == "" {
		domain = strconv.Itoa(vacant(os.Getpid()))
	}
	d.env = map[string]string{"ROS_DOMAIN_ID": domain, "ROS_LOCALHOST_ONLY": "1",
		"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_LOG_DIR": filepath.Join(d.dir, "log")}
	for key, value := range d.env {
		d.fleet.env = append(d.fleet.env, key+"="+value)
	}
	for _, key := range []string{"ROS_DISTRO", "RMW_IMPLEMENTATION", "AMENT_PREFIX_PATH", "CYCLONEDDS_URI"} {
		d.env[key] = d.Getenv(key)
	}
}

// node starts one of the nodes in the robot's namespace, with parameters besides those of the files.
func (d *demo) node(name string, parameters ...string) error {
	args := []string{"--ros-args", "-r", "__ns:=" + d.namespace}
	for _, file := range d.Params {
		args = append(args, "--params-file", file)
	}
	if d.Lockstep {
		parameters = append(parameters, "use_sim_time:=true")
	}
	for _, p := range parameters {
		args = append(args, "-p", p)
	}
	return d.fleet.start(name, args...)
}

// fly starts the nodes in the order in which they need one another, and waits for the end of the flight.
func (d *demo) fly(ctx context.Context) (err error) {
	if d.listener, err = listen(d.env, d.Say, d.failed); err != nil {
		return err
	}
	d.Say(fmt.Sprintf("nodes in the namespace %s, on ROS_DOMAIN_ID=%s ROS_LOCALHOST_ONLY=1", space,
		d.env["ROS_DOMAIN_ID"]))
	reporting, stop := context.WithCancel(ctx)
	defer stop()
	go d.reportNow(reporting)
	directory, seed := "directory:="+d.dir, fmt.Sprintf("seed:=%d", d.Seed)
	flying, learning := []string(nil), []string{directory, seed}
	if d.first != nil {
		d.Say("the first policy is that of " + d.Bundle)
		flying = append(flying, "bundle_file:="+d.Bundle)
		learning = append(learning, flying...)
		d.listener.begin(d.first)
	} else {
		d.Say("a first policy is trained in the nominal simulator, without wind")
	}
	// The recorder is the first, so that it is the last to end: it records everything.
	if d.Task == task.Features {
		learning = append(learning, "task:="+d.Task)
	}
	if err := errors.Join(d.node(recorder, directory), d.node(learner, learning...)); err != nil {
		return err
	}
	if err := d.until(ctx, slowest, "a first bundle", func(r *Record) bool { return len(r.Bundles) > 0 }); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	err = errors.Join(d.node(visualizer, fmt.Sprintf("page.port:=%d", port)), d.node(encoder, flying...),
		d.node(controller, append(flying, "autostart:=true", "task:="+d.Task)...))
	if err != nil {
		return err
	}
	d.Say(fmt.Sprintf("live page: http://127.0.0.1:%d", port))
	if err := d.ready(ctx); err != nil {
		return err
	}
	world := []string{"world:=" + d.World, seed}
	if d.Lockstep {
		world = append(world, "lockstep:=true", "lockstep_paced:=true", "lockstep_patience:=60.0")
	}
	if err := d.node(simulator, world...); err != nil {
		return err
	}
	return d.until(ctx, silence, "steps of "+controller, func(*Record) bool { return d.seconds() >= d.Seconds })
}

// ready waits until the nodes have found one another.
func (d *demo) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	err := d.context.WaitForGraph(ctx, func(g rmw.Graph) bool {
		const readers = 5 // encoder, recorder, learner, visualizer, we
		return len(g.Publishers(space+"/step")) > 0 && len(g.Subscriptions(space+"/step")) >= readers &&
			len(g.Publishers(space+"/latent")) > 0
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the nodes did not find one another on the loopback within %v", silence)
	}
	return err
}

// vacant is a domain in which nobody on this machine is, or any where all are taken. Two robots of one name in a domain
// would receive each other's messages.
func vacant(first int) int {
	const domains = 100
	for i := range domains {
		if d := 1 + (first+i)%domains; !occupied(d) {
			return d
		}
	}
	return 1 + first%domains
}

// occupied reports whether a participant that is found without multicast is in a domain: each has a port of its own
// (RTPS, 9.6.2: discovery unicast).
func occupied(domain int) bool {
	const participants = 20
	for i := range participants {
		c, err := net.ListenPacket("udp4", fmt.Sprintf("127.0.0.1:%d", 7400+250*domain+10+2*i))
		if err != nil {
			return true
		}
		c.Close()
	}
	return false
}

// freePort is one for the live page.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}
