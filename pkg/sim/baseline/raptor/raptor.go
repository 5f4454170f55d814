// Package raptor flies a policy of others that has learned to fly any quadrotor (J. Eschmann et al., "RAPTOR: a
// foundation policy for quadrotor control", 2025): PyPI's foundation-policy, as its authors publish it, in a process of
// its own. It commands motors 100 times a second. `make simulators` installs it.
package raptor

import (
	_ "embed"
	"math"

	"vnd/pkg/core/so3"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/sim/peer"
)

// Tick is the time between two commands, s.
const Tick = 0.01

//go:embed raptor.py
var program string

// Config is what its authors leave to who flies it.
type Config struct {
	Position float64 // greatest distance from the reference that it is shown, m
	Velocity float64 // greatest difference of velocities, m/s
	Lead     float64 // how far ahead of time the reference is, s
	Lift     float64 // thrust of its greatest action over the robot's weight, where the motors give as much
}

// Pool has the processes of the policy.
func Pool() *peer.Pool { return poolOf(program) }

func poolOf(source string) *peer.Pool {
	return &peer.Pool{Program: peer.Program{Name: "foundation-policy", Source: source, Request: seen, Reply: motors}}
}

// seen is how many numbers a request has, motors how many a reply.
const (
	seen   = 1 + 3 + 9 + 3 + 3 + motors
	motors = 4
)

// Controller flies the policy along a path. It is for one goroutine.
type Controller struct {
	Config
	limits  rotors.Limits
	path    closedloop.Path
	pool    *peer.Pool
	process *peer.Process
	full    float64 // command of a motor that its greatest action is
	begins  float64
	action  [motors]float64
	err     error
}

var _ closedloop.RotorController = (*Controller)(nil)

// New makes one for motors of some limits, of which it takes the command that hovers.
func New(c Config, l rotors.Limits, pool *peer.Pool, path closedloop.Path) (*Controller, error) {
	p, err := pool.Take()
	full := min(l.Hover/l.Full*math.Sqrt(c.Lift), 1)
	return &Controller{Config: c, limits: l, path: path, pool: pool, process: p, full: full, begins: 1}, err
}

// Close implements io.Closer. The error is that of the flight, if there was one.
func (c *Controller) Close() error {
	if err := c.pool.Give(c.process); c.err == nil {
		c.err = err
	}
	return c.err
}

// Limits implements closedloop.RotorController.
func (c *Controller) Limits() rotors.Limits { return c.limits }

// Reset implements closedloop.RotorController.
func (c *Controller) Reset() { c.begins, c.action = 1, [motors]float64{} }

// Motors implements closedloop.RotorController. Where the process has ended, its last action stays.
func (c *Controller) Motors(t float64, s *rotors.State) (share [motors]float64) {
	if c.err == nil {
		c.err = c.act(t, s)
	}
	for j, a := range c.action {
		share[j] = c.full * (min(max(a, -1), 1) + 1) / 2
	}
	return share
}

func (c *Controller) act(t float64, s *rotors.State) error {
	r := c.path.At(t + c.Lead)
	heading := so3.FromEuler(0, 0, -r.Yaw) // it holds a heading of zero
	p, v := heading.Rotate(s.P.Sub(r.P).Shorten(c.Position)), heading.Rotate(s.V.Sub(r.V).Shorten(c.Velocity))
	q := heading.Mul(s.Q)
	x, y, z := q.Rotate(so3.Vec3{X: 1}), q.Rotate(so3.Vec3{Y: 1}), q.Rotate(so3.Vec3{Z: 1})
	a := &c.action
	action, err := c.process.Ask(c.begins, p.X, p.Y, p.Z, x.X, y.X, z.X, x.Y, y.Y, z.Y, x.Z, y.Z, z.Z, v.X, v.Y, v.Z,
		s.W.X, s.W.Y, s.W.Z, a[0], a[1], a[2], a[3])
	copy(a[:], action)
	c.begins = 0
	return err
}
