package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/sim/manipulation"
)

// Programs that move an arm, and their namespace.
const (
	armSimulator  = "arm_sim"
	armController = "arm_controller"
	armSpace      = "/arm"
)

// payloads come one after the other, kg, each for some time, s, of which the beginning does not count.
var payloads = []float64{0, 1, 2, 3}

const stays, settles = 8.0, 3.0

// circling is what the arm follows, again after the guard was reset.
const circling = `{"kind": "circle", "speed": 0.25}`

// RunArm has an arm follow a circle under payloads that change, while a learner learns from that, until its time is
// over, or ctx is done. Of the options World, Bundle and Task do not count. The processes have ended when it returns.
func RunArm(ctx context.Context, o Options) (f *ArmResult, err error) {
	arm, err := manipulation.NewWorld[float64](o.Simulator) // what is missing is said now, not after the first policy
	if err != nil {
		return nil, err
	}
	arm.Close()
	d, err := o.begin(armSpace, armSimulator, armController)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(d.dir) // what did not become Out
	w, err := d.watchArm()
	if err != nil {
		return nil, err
	}
	if err := d.finish(&w.watch, d.moveArm(ctx, w)); err != nil {
		return nil, err
	}
	f = w.result()
	f.Bundles, f.Bag, f.Report = filepath.Join(d.Out, "bundles"), filepath.Join(d.Out, bagName),
		filepath.Join(d.Out, pageName)
	return f, d.keep(func(out io.Writer) error { return w.writeReport(out, f) })
}

// moveArm starts the nodes, and changes payloads until the time is over.
func (d *demo) moveArm(ctx context.Context, w *armWatch) error {
	d.Say("a first policy is trained in the prior, without a payload")
	if err := d.firstBundle(ctx, &w.watch); err != nil {
		return err
	}
	world := []string{"payload:=0.0"}
	if d.Simulator != "" { // else a parameter file may name one
		world = append(world, "simulator:="+d.Simulator)
	}
	if d.Lockstep {
		world = append(world, "lockstep:=true", "lockstep_paced:=true", "lockstep_patience:=60.0")
	}
	if err := errors.Join(d.node(armController, "autostart:=true"), d.node(armSimulator, world...)); err != nil {
		return err
	}
	for k, over := 0, false; !over; k++ {
		if err := w.hang(ctx, payloads[k%len(payloads)]); err != nil {
			return err
		}
		err := w.wait(ctx, silence, "joint states", func() bool {
			over = w.seconds() >= d.Seconds && len(w.errors) >= d.atLeast
			return over || w.seconds() >= float64(k+1)*stays
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// armWatch is a watch of an arm.
type armWatch struct {
	watch
	since    float64
	payload  float64
	errors   map[string]map[float64][]float64
	ticks    []armTick
	commands string // bundle whose policy does
	off      float64
	trips    []string
	tripped  bool
	freeing  bool // a guard is being reset
	refusals int  // resets in a row that did not help
}

// watchArm joins the graph.
func (d *demo) watchArm() (w *armWatch, err error) {
	w = &armWatch{errors: map[string]map[float64][]float64{}}
	if err := d.join(&w.watch); err != nil {
		return nil, err
	}
	w.moves = func() string {
		return fmt.Sprintf("%g kg  bundle %.8s  tool %.2f mm off", w.payload, w.commands, w.off)
	}
	_, states := ros.NewSubscription(w.Operator, armSpace+"/"+node.JointStates, node.JointStatesQoS(), w.onStates)
	_, ticks := ros.NewSubscription(w.Operator, armSpace+"/"+node.ArmStep, deep(node.StepQoS()), w.onTick)
	_, health := ros.NewSubscription(w.Operator, "/diagnostics", deep(ros.DefaultQoS()), w.onDiagnostics)
	if err := errors.Join(states, ticks, health); err != nil {
		w.end()
		return nil, err
	}
	return w, nil
}

// hang hangs a payload, kg, on the arm.
func (w *armWatch) hang(ctx context.Context, payload float64) error {
	if _, err := w.SetParameter(ctx, armSimulator, "payload", fmt.Sprintf("%.1f", payload)); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.payload, w.since = payload, w.seconds()
	w.report("%g kg hang on the arm", payload)
	return nil
}

func (w *armWatch) onStates(m *sensormsgs.JointState, _ ros.Info) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stamp = bridge.Nanoseconds(m.Header.Stamp)
}

// onDiagnostics keeps how far the tool is off, and has a guard reset, as a person beside the arm would.
func (w *armWatch) onDiagnostics(m *diagnosticmsgs.DiagnosticArray, _ ros.Info) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range m.Status {
		s := &m.Status[i]
		if s.Name != armController+": arm" {
			continue
		}
		cause, tripped := strings.CutPrefix(s.Message, "the law holds the arm: ")
		if tripped && !w.tripped {
			w.trips = append(w.trips, fmt.Sprintf("%.1f s: %s", w.seconds(), cause))
			w.report("guard: %s; it is reset", cause)
		}
		w.tripped = tripped
		if begun := w.begun != 0 || len(w.trips) > 0; begun && held(s) && !w.freeing {
			w.freeing = true
			go w.free()
		}
		id, commands := strings.CutPrefix(strings.TrimSuffix(s.Message, " commands"), "the policy of bundle ")
		if !commands {
			continue
		}
		w.measured(id, s.Values)
	}
}

// measured takes how far the tool is off under a bundle's policy.
func (w *armWatch) measured(id string, values []diagnosticmsgs.KeyValue) {
	if w.begun == 0 {
		w.begun, w.since = w.stamp, 0
	}
	if id != w.commands {
		w.commands, w.since = id, w.seconds()
		w.report("bundle %.8s moves the arm", id)
	}
	for _, v := range values {
		if !strings.HasPrefix(v.Key, "tool off its reference") {
			continue
		}
		if _, err := fmt.Sscan(v.Value, &w.off); err != nil || w.seconds()-w.since < settles {
			continue
		}
		if w.errors[id] == nil {
			w.errors[id] = map[float64][]float64{}
		}
		w.errors[id][w.payload] = append(w.errors[id][w.payload], w.off)
	}
}

// held reports whether an arm is held: by a guard, or as nothing is followed after a reset.
func held(s *diagnosticmsgs.DiagnosticStatus) bool {
	return strings.HasPrefix(s.Message, "the law holds the arm: ") ||
		slices.ContainsFunc(s.Values, func(v diagnosticmsgs.KeyValue) bool {
			return v.Key == "follows" && strings.HasPrefix(v.Value, "nothing")
		})
}

// free ends a fault, and has the arm follow the circle again. Where that is refused the next diagnostics ask again.
func (w *armWatch) free() {
	ctx, cancel := context.WithTimeout(context.Background(), silence)
	defer cancel()
	_, err := w.Trigger(ctx, armController+"/reset_guard")
	if err == nil {
		_, err = w.SetTask(ctx, armController+"/set_task", armcontrol.Task, circling)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.freeing = false; err == nil {
		w.refusals = 0
		return
	}
	if w.refusals++; w.refusals == mostRefusals {
		w.failed.report(fmt.Errorf("the arm cannot move on: %w (--lockstep is for machines that are busy with other "+
			"things)", err))
	}
}

// mean of some numbers, NaN of none.
func mean(x []float64) float64 {
	sum := 0.
	for _, v := range x {
		sum += v
	}
	if len(x) == 0 {
		return math.NaN()
	}
	return sum / float64(len(x))
}
