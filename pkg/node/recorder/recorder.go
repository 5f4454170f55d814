// Package recorder is the node transition_recorder. It records flights twice: as transitions to learn from, and as
// bags of the raw topics.
package recorder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"vnd/msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/node"
	"vnd/pkg/ros2/bag/recording"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/params"
)

// Run records until ctx is done. Then it writes the messages that are on their way, and returns.
func Run(ctx context.Context, o ros.Options) error {
	var r *recorder
	spinning, end := context.WithCancel(context.Background())
	defer end()
	err := ros.Run(spinning, o, func(_ context.Context, c *ros.Context) (err error) {
		if r, err = newRecorder(ctx, c); err == nil {
			context.AfterFunc(ctx, func() { r.drain(); end() })
		}
		return err
	})
	if r != nil {
		err = errors.Join(err, r.close())
	}
	return err
}

// recorder is the node. One thread puts messages into queues; another runs callbacks that wait for the disk.
type recorder struct {
	*ros.Node
	params    *params.Bound[Params]
	slow      *ros.Group // callbacks that wait for the disk
	collector *dataset.Collector
	recording *recording.Recording
	buffer    *ros.Publisher[msgs.BufferSegment]
	topics    []*listener // step first
	stopped   atomic.Bool // by ~/stop
	recovered chan struct{}
	frame     atomic.Pointer[string] // of the world

	// Of the thread that takes messages:
	decoder   cdr.Decoder
	message   msgs.Step
	publisher rmw.GID   // of the steps that are recorded
	last      time.Time // when one was received
	other     uint64    // steps of another publisher since then
	foreign   atomic.Uint64
	malformed atomic.Uint64
	byMotors  atomic.Bool   // somebody commands motors
	motored   atomic.Uint64 // steps of such flights
	spread    spread
}

// takeover is the silence of one controller after which the steps of another are recorded, as after a restart.
const takeover = time.Second / 2

func newRecorder(ctx context.Context, c *ros.Context) (*recorder, error) {
	n, err := c.NewNode(Name)
	if err != nil {
		return nil, err
	}
	r := &recorder{Node: n, slow: c.NewGroup(ros.Exclusive), recovered: make(chan struct{})}
	world := "world"
	r.frame.Store(&world)
	close(r.recovered)
	if err := r.open(ctx); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *recorder) open(ctx context.Context) (err error) {
	if r.params, err = params.Bind[Params](r.Parameters(), nil); err != nil {
		return err
	}
	p := r.params.Load()
	if r.buffer, err = ros.NewPublisher[msgs.BufferSegment](r.Node, "buffer", node.BufferQoS()); err != nil {
		return err
	}
	r.collector, err = dataset.OpenCollector(p.Buffer,
		dataset.CollectorOptions{Dir: filepath.Join(p.Directory, "buffer"), Finished: r.announce})
	if err != nil {
		return fmt.Errorf("parameter directory: %w", err)
	}
	r.recording, err = recording.Open(p.Bag,
		recording.Options{Dir: filepath.Join(p.Directory, "bags"), Distro: os.Getenv("ROS_DISTRO")})
	if err != nil {
		return fmt.Errorf("parameter directory: %w", err)
	}
	if err := r.listeners(); err != nil {
		return err
	}
	if p.Record {
		if err := r.recording.Start(); err != nil {
			r.Log().Error().Msgf("no bag: %v", err) // the buffer works without
		}
	}
	r.recover(ctx)
	if err := r.serve(); err != nil {
		return err
	}
	return r.diagnose(p.Robot)
}

// recover recovers the bags of a killed run, in a goroutine.
func (r *recorder) recover(ctx context.Context) {
	r.recovered = make(chan struct{})
	go func() {
		defer close(r.recovered)
		r.recording.Recover(ctx, func(line string) { r.Log().Warn().Msg(line) })
	}()
}

// serve creates timers and services.
func (r *recorder) serve() error {
	slow := ros.InGroup(r.slow)
	r.subscribe()
	if _, err := r.NewWallTimer(time.Second/2, r.subscribe); err != nil {
		return err
	}
	if _, err := r.NewWallTimer(time.Second, r.watch, slow); err != nil {
		return err
	}
	services := map[string]func() (string, error){"~/flush": r.flush, "~/start": r.start, "~/stop": r.stop}
	for service, do := range services {
		answer := func(_ *stdsrvs.TriggerRequest, a *stdsrvs.TriggerResponse) {
			text, err := do()
			a.Success, a.Message = err == nil, text
			if err != nil {
				a.Message = err.Error()
			}
		}
		if _, err := ros.NewService(r.Node, service, answer, slow); err != nil {
			return err
		}
	}
	return nil
}

func (r *recorder) subscribe() {
	for _, l := range r.topics {
		l.update()
	}
	r.byMotors.Store(node.FlownByMotors(r.Node, node.MotorsTopic))
}

// watch ends the bag before the disk is full.
func (r *recorder) watch() {
	r.recording.SetLeastFree(r.params.Load().Bag.LeastFree)
	if err := r.recording.Watch(); err != nil {
		r.Log().Error().Msgf("the bag ended, the buffer continues: %v", err)
	}
}

// flush ends the segment, so that the learner can read it.
func (r *recorder) flush() (string, error) {
	if err := r.collector.Flush(); err != nil {
		return "", err
	}
	n := r.collector.Counts()
	return fmt.Sprintf("%d rows in %d segments are on the disk", n.Rows, n.Segments), nil
}

// start records again after ~/stop, or after the disk was full.
func (r *recorder) start() (string, error) {
	r.stopped.Store(false)
	if err := r.recording.Start(); err != nil {
		return "", fmt.Errorf("only the buffer: %w", err)
	}
	return "recording " + r.recording.Status().Bag, nil
}

// stop ends the bag and the segment, and records nothing more.
func (r *recorder) stop() (string, error) {
	r.stopped.Store(true)
	bag := r.recording.Status().Bag
	if err := errors.Join(r.recording.Stop(), r.collector.Flush()); err != nil {
		return "", err
	}
	if bag == "" {
		return "nothing was being recorded into a bag", nil
	}
	return bag + " is complete", nil
}

// step adds a tick of the controller to the buffer. Of two controllers the first one is recorded.
func (r *recorder) step(data []byte, i ros.Info) {
	now := time.Now()
	if i.Publisher != r.publisher && now.Sub(r.last) < takeover {
		r.other++ // they count as foreign when the first one continues
		return
	}
	if i.Publisher == r.publisher && r.other > 0 {
		r.foreign.Add(r.other)
	}
	if i.Publisher != r.publisher {
		r.byMotors.Store(node.FlownByMotors(r.Node, node.MotorsTopic))
	}
	r.publisher, r.last, r.other = i.Publisher, now, 0
	m := &r.message
	r.decoder.Reset(data)
	m.UnmarshalCDR(&r.decoder)
	if err := r.decoder.Finish(); err != nil {
		if r.malformed.Add(1) == 1 {
			r.Log().Error().Msgf("topic step: %v", err)
		}
		return
	}
	if frame := m.Header.FrameID; frame != *r.frame.Load() && frame != "" {
		r.frame.Store(&frame)
	}
	if r.byMotors.Load() {
		if r.motored.Add(1) == 1 {
			r.Log().Error().Msgf("topic step: %s", node.ByMotors)
		}
		return
	}
	s := node.ControllerStep(m)
	s.Deviation = r.spread.now()
	r.collector.Add(s)
}

// announce publishes a finished segment.
func (r *recorder) announce(s dataset.SegmentFile) {
	m := &msgs.BufferSegment{Directory: s.Dir, File: s.File, Rows: uint64(s.Rows), Sha256: s.SHA256}
	m.Header.Stamp, m.Header.FrameID = bridge.Time(s.Stamp), *r.frame.Load()
	if err := r.buffer.Publish(m); err != nil {
		r.Log().Error().Msgf("topic buffer: %v", err)
	}
}

// drain waits until no more messages arrive, at most a second: those published before the end are recorded too.
func (r *recorder) drain() {
	received := func() (n uint64) {
		for _, l := range r.topics {
			n += l.received.Load()
		}
		return n
	}
	const quiet = 50 * time.Millisecond
	for last, k := received(), 0; k < 20; k++ {
		time.Sleep(quiet)
		now := received()
		if now == last {
			return
		}
		last = now
	}
}

// close writes everything to the disk.
func (r *recorder) close() (err error) {
	if r.collector != nil {
		err = r.collector.Close()
	}
	if r.recording != nil {
		err = errors.Join(err, r.recording.Stop())
		<-r.recovered
		err = errors.Join(err, r.recording.Close())
	}
	return err
}

func (r *recorder) diagnose(robot string) error {
	u, err := diagnostics.New(r.Node, robot)
	if err != nil {
		return err
	}
	u.Add("steps", r.reportSteps)
	u.Add("buffer", r.reportBuffer)
	u.Add("bag", r.reportBag)
	return nil
}
