package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/sim/pushing"
)

// Programs that push a box, their namespace, and the frame of its table.
const (
	pushSimulator  = "push_sim"
	pushController = "push_controller"
	pushSpace      = "/push"
	tableFrame     = "table"
)

// boxes come in turns, for a push each: mass, kg, and friction. The order of each turn is drawn, so that what a learner
// holds out is not always of the same box.
var boxes = [][2]float64{{0.4, 0.3}, {0.8, 0.5}, {1.5, 0.8}, {2, 1.1}}

// RunPush has boxes pushed to goals, while a learner learns from that, for so many seconds of the wall, or until ctx is
// done. Of the options World, Bundle, Task and Lockstep do not count: time always waits for each command. The processes
// have ended when it returns.
func RunPush(ctx context.Context, o Options) (f *PushResult, err error) {
	d, err := o.begin(pushSpace, pushSimulator, pushController)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(d.dir)                       // what did not become Out
	if _, err := pushing.NewJudging(); err != nil { // what is missing is said now, not by a program that ends
		return nil, err
	}
	w, err := d.watchPushes()
	if err != nil {
		return nil, err
	}
	if err := d.finish(&w.watch, d.push(ctx, w)); err != nil {
		return nil, err
	}
	f = w.result()
	f.Bundles, f.Bag, f.Report = filepath.Join(d.Out, "bundles"), filepath.Join(d.Out, bagName),
		filepath.Join(d.Out, pageName)
	return f, d.keep(f.writeReport)
}

// push starts the nodes, and has boxes pushed until the time is over.
func (d *demo) push(ctx context.Context, w *pushWatch) error {
	d.Say("a first policy is trained in the prior, for one box")
	if err := d.firstBundle(ctx, &w.watch); err != nil {
		return err
	}
	err := errors.Join(d.node(pushController, "use_sim_time:=true"),
		d.node(pushSimulator, "lockstep:=true", "lockstep_paced:=true", "lockstep_patience:=1.0"))
	if err == nil {
		err = w.wait(ctx, slowest, "places of the box", func() bool { return w.stamp != 0 })
	}
	if err == nil {
		err = ros.WaitForMatched(ctx, w.goals, 1)
	}
	rng, begun := rand.New(rand.NewPCG(d.Seed, 1)), time.Now()
	var turn []int
	for k := 0; err == nil && (time.Since(begun).Seconds() < d.Seconds || w.moved() < d.atLeast); k++ {
		if len(turn) == 0 {
			turn = rng.Perm(len(boxes))
		}
		err = w.pushOne(ctx, k, turn[0], rng)
		turn = turn[1:]
	}
	return err
}

// pushWatch is a watch of a pushed box.
type pushWatch struct {
	watch
	goals *ros.Publisher[geometrymsgs.PoseStamped]

	at     [3]float64 // of the box
	number int        // of the box that is pushed
	first  msgs.PushStep
	now    msgs.PushStep
	ended  int // pushes
	there  int // of them
	all    []pushed
}

// pushed is a push that ended.
type pushed struct {
	bundle  string
	box     int
	there   bool
	seconds float64
}

// watchPushes joins the graph.
func (d *demo) watchPushes() (w *pushWatch, err error) {
	w = &pushWatch{}
	if err := d.join(&w.watch); err != nil {
		return nil, err
	}
	w.moves = func() string {
		return fmt.Sprintf("%s  bundle %.8s  %d of %d pushes ended at their goals", boxName(w.number), w.now.BundleID,
			w.there, w.ended)
	}
	var failed error
	w.goals, failed = ros.NewPublisher[geometrymsgs.PoseStamped](w.Operator, pushSpace+"/"+node.GoalPose,
		node.CommandQoS())
	_, poses := ros.NewSubscription(w.Operator, pushSpace+"/"+node.BoxPose, node.MocapQoS(), w.onBox)
	_, ticks := ros.NewSubscription(w.Operator, pushSpace+"/"+node.PushStep, deep(node.StepQoS()), w.onTick)
	if err := errors.Join(failed, poses, ticks); err != nil {
		w.end()
		return nil, err
	}
	return w, nil
}

// moved is how many bundles have pushed.
func (w *pushWatch) moved() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(bundlesOf(w.all))
}

// pushOne has a box pushed to a goal, after k others.
func (w *pushWatch) pushOne(ctx context.Context, k, number int, rng *rand.Rand) error {
	for i, name := range []string{"mass", "friction"} {
		if _, err := w.SetParameter(ctx, pushSimulator, name, fmt.Sprintf("%.2f", boxes[number][i])); err != nil {
			return err
		}
	}
	w.mu.Lock()
	w.number = number
	goal, before := goalFrom(w.at, rng), w.now.Push
	w.mu.Unlock()
	var sent time.Time
	return w.wait(ctx, silence, "the end of a push", func() bool {
		const again = 2 * time.Second // a goal may be lost while the controller has not seen who publishes it
		if w.now.Push == before && time.Since(sent) > again {
			sent = time.Now()
			if err := w.goals.Publish(bridge.OnTable(0, tableFrame, goal, 0)); err != nil {
				w.failed.report(err)
			}
		}
		return w.ended > k
	})
}

// goalFrom draws a goal 0.1 to 0.3 m from where the box is, towards the middle of the table.
func goalFrom(at [3]float64, rng *rand.Rand) [3]float64 {
	const nearest, farthest = 0.1, 0.3
	even := func(most float64) float64 { return most * (2*rng.Float64() - 1) }
	for {
		x, y := even(0.2)-at[0], even(0.2)-at[1]
		if far := math.Hypot(x, y); far > nearest {
			share := min(1, farthest/far)
			return [3]float64{at[0] + share*x, at[1] + share*y, at[2] + even(0.3)}
		}
	}
}

func (w *pushWatch) onBox(m *geometrymsgs.PoseStamped, _ ros.Info) {
	w.mu.Lock()
	defer w.mu.Unlock()
	stamp, at, err := bridge.FromTable(m, tableFrame)
	if err == nil {
		w.stamp, w.at = stamp, at
	}
}

// onTick keeps how pushes end.
func (w *pushWatch) onTick(m *msgs.PushStep, _ ros.Info) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.begun == 0 {
		w.begun = bridge.Nanoseconds(m.Header.Stamp)
	}
	if m.BundleID != w.now.BundleID {
		w.report("bundle %.8s pushes", m.BundleID)
	}
	if m.Push != w.now.Push {
		w.first = *m
	}
	if w.now = *m; !m.There && m.Fault == "" {
		return
	}
	p := pushed{m.BundleID, w.number, m.There,
		float64(bridge.Nanoseconds(m.Header.Stamp)-bridge.Nanoseconds(w.first.Header.Stamp)) / 1e9}
	if w.ended++; p.there {
		w.there++
	} else {
		w.report("%s: the push is given up: %s", boxName(w.number), m.Fault)
	}
	if w.first.BundleID == m.BundleID { // else two of them pushed
		w.all = append(w.all, p)
	}
}

// writeReport writes a page with a picture.
func (f *PushResult) writeReport(out io.Writer) error {
	d := &document{Title: "Learning while a box is pushed", Sentences: f.sentences(), Tables: []table{f.table()},
		Bag: f.Bag, Intro: fmt.Sprintf("Simulated boxes were pushed to %d goals, over ROS 2 by nodes that are "+
			"processes of their own. Nobody told them of mass and friction, which changed with each push. What was "+
			"learned was gated and swapped in meanwhile.", f.Pushes),
		Measured: "A push succeeds that has the box within 2 cm and 0.2 rad of its goal for 0.6 s, before it is " +
			"given up. Times are simulated, to the end of that."}
	if err := d.show("Success", "The share of pushes that ended at their goals.", f.bars); err != nil {
		return err
	}
	return d.write(out)
}
