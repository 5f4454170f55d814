package control

import (
	"fmt"
	"slices"
	"strings"

	"vnd/pkg/flight/policy"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// LoadedPolicy is a bundle ready to fly: what takes time or memory, or may fail, has been done. One Loop flies it.
type LoadedPolicy struct {
	ID     string
	Parent string   // bundle that it was learned from; empty: none
	Tasks  []string // that its policy was trained for

	dt       float64
	policy   *policy.Policy[float32]
	buffers  *policy.Buffers // of the policy, for a swap in flight
	least    []float32       // [Z] latents beyond least and most are cut
	most     []float32
	actuator quadrotor.Actuator
}

// LoadPolicy makes a bundle ready for a robot and a rate of ticks in Hz. What does not fit is refused in words.
func LoadPolicy(b *bundle.Bundle, robot string, rate float64) (*LoadedPolicy, error) {
	load := policy.Load
	switch {
	case b.Robot == rotors.Name && robot != rotors.Name:
		return nil, fmt.Errorf("bundle %s commands four rotors, expected a policy of thrust and body rates: "+
			"command_interface rotors alone takes commands of motors", b.ID)
	case robot == rotors.Name && b.Robot != robot:
		return nil, fmt.Errorf("bundle %s is of robot %q, and command_interface rotors expects %q: vnd train --robot "+
			"rotors makes one", b.ID, b.Robot, robot)
	case b.Robot != robot:
		return nil, fmt.Errorf("bundle %s is of robot %q, expected %q", b.ID, b.Robot, robot)
	case robot == rotors.Name:
		load = policy.LoadRotors
	}
	if _, err := TicksPerRow(rate, b.Dt); err != nil {
		return nil, fmt.Errorf("bundle %s: %w", b.ID, err)
	}
	l, err := load(b)
	if err != nil {
		return nil, err
	}
	c := &LoadedPolicy{ID: b.ID, Parent: b.Parent, Tasks: strings.Split(b.Task, ","), dt: b.Dt, policy: l.Policy,
		buffers: l.NewBuffers(), actuator: quadrotor.NominalActuator()}
	if l.Model != nil {
		c.actuator = l.Robot.Actuator
	}
	c.boundLatents(l.Model)
	return c, nil
}

// maxUsedLatent is beyond which a latent is cut where the bundle does not say which were met.
const maxUsedLatent = 2.5

// boundLatents keeps where latents are cut: at the edge of those that the policy was trained under.
func (c *LoadedPolicy) boundLatents(m *vnd.Model[float32]) {
	if m != nil && m.LatentPrior != nil {
		c.least, c.most = m.LatentPrior.Bounds()
		return
	}
	c.least, c.most = slices.Repeat([]float32{-maxUsedLatent}, c.Latent()),
		slices.Repeat([]float32{maxUsedLatent}, c.Latent())
}

// TrainedFor reports whether the policy was trained for a task.
func (c *LoadedPolicy) TrainedFor(task string) bool { return slices.Contains(c.Tasks, task) }

// PreviewPoints is how many points of the reference the policy sees, and Latent how many numbers of a latent.
func (c *LoadedPolicy) PreviewPoints() int { return c.policy.Observation.PreviewPoints }
func (c *LoadedPolicy) Latent() int        { return c.policy.Latent }

// Landmarks is how many landmarks the policy sees in place of positions; 0: it sees positions.
func (c *LoadedPolicy) Landmarks() int { return c.policy.Observation.Camera.Count() }

// UsesLatent reports whether the latent makes a difference to the policy.
func (c *LoadedPolicy) UsesLatent() bool { return c.policy.UsesLatent() }

// Corrects reports whether what was flown before counts: position errors move the reference that the policy sees, and
// it sees pushes or lags.
func (c *LoadedPolicy) Corrects() bool {
	return c.policy.Integral.Time > 0 || c.policy.FeedForward.Time > 0 || c.policy.Observation.MeasuredSize() > 0
}

// InputNames are those of the inputs of the policy's network.
func (c *LoadedPolicy) InputNames() []string {
	names := c.policy.Observation.Names()
	for k := range c.policy.Latent {
		names = append(names, fmt.Sprintf("latent %d", k))
	}
	return names
}

// PreviewTime is how long from now point k of the preview is, s.
func (c *LoadedPolicy) PreviewTime(k int) float64 { return c.policy.Observation.Look(k) }

// SetPolicy runs a policy from the next tick on. Past commands are kept where the policy before was of the same
// kind. After the first it allocates nothing.
func (l *Loop) SetPolicy(c *LoadedPolicy) {
	if l.runner != nil {
		l.runner.Swap(c.buffers, c.dt)
	} else {
		l.runner = policy.NewRunnerOf(c.buffers, c.dt, l.reference)
	}
	l.actuator.setModel(c.actuator, c.dt, 1/l.config.Rate)
	if l.policy != c {
		l.previous, l.swapped = l.resort(c), l.ticked
		l.flown[l.swaps%len(l.flown)], l.swaps = c.ID, l.swaps+1
	}
	l.policy = c
}

// resort is the policy to go back to from one that follows; nil: none. Who takes a bundle back, in favour of its parent
// or of one that flew before, does not want to see it again.
func (l *Loop) resort(c *LoadedPolicy) *LoadedPolicy {
	if l.policy == nil || c.ID == l.policy.Parent || slices.Contains(l.flown[:], c.ID) {
		return nil
	}
	return l.policy
}
