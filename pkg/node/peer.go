package node

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/bridge"
	"vnd/pkg/ros2/ros"
)

type (
	getParameters    = rclinterfaces.GetParametersRequest
	parametersAnswer = rclinterfaces.GetParametersResponse
)

// ErrNoAnswer is the verdict on a peer that has not answered yet.
var ErrNoAnswer = errors.New("does not answer")

// PeerWatch says which parameters of another node are asked for, how often, and what is expected of them.
type PeerWatch struct {
	Of      string // the node
	Names   []string
	Every   time.Duration
	Without string                                     // what is not done before the first answer
	Check   func([]rclinterfaces.ParameterValue) error // gets one value a name, not set where the peer has none
}

// PeerParameters are parameters of another node, which is asked for them again and again.
type PeerParameters struct {
	watch   PeerWatch
	client  *ros.Client[getParameters, parametersAnswer]
	timer   *ros.Timer
	asked   atomic.Int64          // when a request without an answer was sent, ns since begun; 0: none waits
	verdict atomic.Pointer[error] // of the last answer
}

// WatchParameters begins to ask a node, until Close.
func WatchParameters(n *ros.Node, w PeerWatch) (*PeerParameters, error) {
	p := &PeerParameters{watch: w}
	var err error
	if p.client, err = ros.NewClient[getParameters, parametersAnswer](n, w.Of+"/get_parameters"); err != nil {
		return nil, err
	}
	p.judge(fmt.Errorf("service %s %w: %s", p.client.Name(), ErrNoAnswer, w.Without))
	if p.timer, err = n.NewWallTimer(w.Every, p.ask); err != nil {
		return nil, errors.Join(err, p.client.Close())
	}
	return p, nil
}

// Close ends the asking.
func (p *PeerParameters) Close() error { return errors.Join(p.timer.Close(), p.client.Close()) }

// ask asks, unless an answer is being waited for.
func (p *PeerParameters) ask() {
	const lost = 5 * time.Second
	now := time.Since(begun)
	asked := p.asked.Load()
	if asked != 0 && now-time.Duration(asked) < lost || !p.Available() {
		return
	}
	p.asked.Store(int64(now))
	if err := p.client.Send(&getParameters{Names: p.watch.Names}, p.answered); err != nil {
		p.asked.Store(0)
	}
}

// answered takes the values. What held goes on to hold while a peer has just lost them, as mavros does when its
// connection comes back.
func (p *PeerParameters) answered(r *parametersAnswer, err error) {
	p.asked.Store(0)
	if err != nil {
		return
	}
	values := make([]rclinterfaces.ParameterValue, len(p.watch.Names))
	copy(values, r.Values)
	err = p.watch.Check(values)
	if p.Err() == nil && errors.Is(err, bridge.ErrNotKnown) {
		return
	}
	p.judge(err)
}

func (p *PeerParameters) judge(err error) { p.verdict.Store(&err) }

// Available reports whether the peer is there.
func (p *PeerParameters) Available() bool { return p.client.Available() }

// Err is what the check said of the last answer, or ErrNoAnswer.
func (p *PeerParameters) Err() error { return *p.verdict.Load() }

// Fault is Err in words; "" for none. It allocates nothing.
func (p *PeerParameters) Fault() string {
	if err := p.Err(); err != nil {
		return err.Error()
	}
	return ""
}
