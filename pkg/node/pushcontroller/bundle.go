package pushcontroller

import (
	"fmt"

	"vnd/msgs"
	"vnd/pkg/flight/pushcontrol"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/vnd/bundle"
)

// load takes up the policy of a bundle's file, if one is named.
func (c *controller) load(file string) error {
	if file == "" {
		return nil
	}
	b, err := bundle.Read(file)
	if err == nil {
		err = c.trust.CheckFile(b)
	}
	if err == nil {
		err = c.swap(b)
	}
	return err
}

// addBundle has the policy of a bundle push from the next tick on.
func (c *controller) addBundle(m *msgs.Bundle, _ ros.Info) {
	b, err := node.Unpack(m)
	if err == nil {
		err = c.trust.Check(b)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		err = c.swap(b)
	}
	if err != nil {
		c.refuse("bundle", err)
	}
}

// swap takes up a bundle's policy, unless it is there already. The one before it stays ready.
func (c *controller) swap(b *bundle.Bundle) error {
	p, err := pushcontrol.Load(b)
	switch {
	case err != nil:
		return err
	case c.loop == nil:
		c.loop = pushcontrol.NewLoop(b.Dt, c.params.Load().Guard)
	case b.Dt != c.loop.Dt:
		return fmt.Errorf("bundle %s commands each %g s, expected %g", b.ID, b.Dt, c.loop.Dt)
	}
	if c.loop.Bundle() != b.ID {
		c.loop.Swap(b.ID, p)
		c.Log().Info().Msgf("bundle %s", b.ID)
	}
	return nil
}
