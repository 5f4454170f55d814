package control

import (
	"fmt"
	"slices"
	"strings"

	"vnd/pkg/dynamics"
	"vnd/pkg/learned"
	"vnd/pkg/policy"
	"vnd/pkg/snapshot"
)

// Craft is a bundle made ready to fly: all that takes time or may fail has been done.
type Craft struct {
	ID    string
	Tasks []string // that its policy was trained for

	dt       float64
	policy   *policy.Policy[float32]
	actuator dynamics.Actuator
}

// Prepare makes a bundle ready for a robot and a rate of ticks in Hz. What does not fit is refused in words.
func Prepare(b *snapshot.Bundle, robot string, rate float64) (*Craft, error) {
	switch {
	case b.Robot != robot:
		return nil, fmt.Errorf("bundle %s is of robot %q, expected %q", b.ID, b.Robot, robot)
	case !policy.In(b):
		return nil, fmt.Errorf("bundle %s has no policy: vnd train makes one", b.ID)
	}
	if _, err := TicksPerRow(rate, b.Dt); err != nil {
		return nil, fmt.Errorf("bundle %s: %w", b.ID, err)
	}
	c := &Craft{ID: b.ID, Tasks: strings.Split(b.Task, ","), dt: b.Dt, actuator: dynamics.NominalActuator()}
	var err error
	if c.policy, err = policy.FromBundle(b); err != nil {
		return nil, err
	}
	if !learned.In(b) {
		return c, nil
	}
	m, q, err := learned.FromBundle(b)
	if err != nil {
		return nil, err
	}
	if m.Net.Latent != c.policy.Latent {
		return nil, fmt.Errorf("bundle %s: policy with a latent of %d, its model has one of %d", b.ID, c.policy.Latent, m.Net.Latent)
	}
	c.actuator = q.Actuator
	return c, nil
}

// Flies reports whether the policy was trained for a task.
func (c *Craft) Flies(task string) bool { return slices.Contains(c.Tasks, task) }

// Looks is how many points of the reference the policy sees, and Latent how many numbers of a latent.
func (c *Craft) Looks() int  { return c.policy.Observation.Looks }
func (c *Craft) Latent() int { return c.policy.Latent }
