package armcontroller

import (
	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/robot/arm"
)

// send commands torques, N·m.
func (c *Controller) send(tau [arm.Joints]float64) {
	c.m.Data = append(c.m.Data[:0], tau[:]...)
	c.publish(c.efforts.Publish(&c.m))
}

// publishTick publishes the tick at joint states, after its command, and the latent that there was.
func (c *Controller) publishTick(stamp int64, s *arm.State) {
	m := &c.step
	m.Header.Stamp, m.Header.FrameID = bridge.Time(stamp), c.params.Load().BaseFrame
	m.Position, m.Velocity = append(m.Position[:0], s.Q[:]...), append(m.Velocity[:0], s.V[:]...)
	m.Effort = append(m.Effort[:0], c.m.Data...)
	is, to := c.loop.Tool()
	m.Tool, m.Reference = geometrymsgs.Point(is), geometrymsgs.Point(to)
	m.Policy, m.Fault = c.loop.PolicyCommands(), c.loop.Fault()
	m.Task = armcontrol.Task + " " + c.follows
	m.Latent, m.BundleID = m.Latent[:0], ""
	if p := c.loop.Policy(); p != nil {
		m.BundleID = p.ID
		if z, novelty := p.Latent(); z != nil {
			m.Latent = append(m.Latent, z...)
			l := msgs.Latent{Mean: z, Novelty: novelty, BundleID: p.ID}
			l.Header.Stamp = m.Header.Stamp
			c.publish(c.latents.Publish(&l))
		}
	}
	c.publish(c.steps.Publish(m))
	m.Seq++
}

// publish logs what could not be published.
func (c *Controller) publish(err error) {
	if err != nil {
		c.Log().Warn().Msg(err.Error())
	}
}

// draw publishes the way of the tool along a reference; an empty one where there is none.
func (c *Controller) draw(r *arm.Reference) {
	const apart = 5 // rows
	var m navmsgs.Path
	m.Header.Stamp, m.Header.FrameID = c.Now().Msg(), c.params.Load().BaseFrame
	for k := 0; r != nil && k <= len(r.Rows); k += apart {
		var p geometrymsgs.PoseStamped
		bridge.PutPoseStamped(&p, int64(c.Now()), m.Header.FrameID,
			quad.State{P: r.Rows[k%len(r.Rows)].Tool, Q: so3.Identity()})
		m.Poses = append(m.Poses, p)
	}
	c.publish(c.path.Publish(&m))
}
