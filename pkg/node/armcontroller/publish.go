package armcontroller

import (
	"errors"
	"fmt"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/node"
	"vnd/pkg/robot/arm"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/viz/markers"
)

// advertise makes the publishers.
func (c *Controller) advertise() error {
	return errors.Join(open(c, &c.efforts, node.JointEfforts, node.CommandQoS()),
		open(c, &c.path, "reference/path", node.LatchedQoS()), open(c, &c.steps, node.ArmStep, node.StepQoS()),
		open(c, &c.latents, "latent", node.LatentQoS()), open(c, &c.marks, "~/tool", node.LatchedQoS()))
}

func open[M any, P ros.Message[M]](c *Controller, to **ros.Publisher[M], topic string, q ros.QoS) (err error) {
	if *to, err = ros.NewPublisher[M, P](c, topic, q); err == nil {
		c.closers = append(c.closers, *to)
	}
	return err
}

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

// mark draws the tool where somebody looks.
func (c *Controller) mark() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loop == nil || c.ticked == 0 || c.marks.Matched() == 0 {
		return
	}
	is, to := c.loop.Tool()
	by := "computed torque"
	switch {
	case c.loop.Fault() != "":
		by = c.loop.Fault()
	case c.loop.PolicyCommands():
		by = fmt.Sprintf("bundle %.8s", c.policy.ID)
	}
	c.publish(c.marks.Publish(markers.Tool(is, to, c.params.Load().BaseFrame, c.ticked, by)))
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
