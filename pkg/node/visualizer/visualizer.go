// Package visualizer is the node visualizer: what flies, drawn for rviz and on a page of its own, from the topics in
// docs/guide/nodes.md. Packages scene, markers and web of pkg/viz hold what it does.
package visualizer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"vnd/msgs"
	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	tf2msgs "vnd/msgs/tf2_msgs"
	visualizationmsgs "vnd/msgs/visualization_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/so3"
	"vnd/pkg/node"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/viz/scene"
	"vnd/pkg/viz/web"
)

// Name of the node.
const Name = "visualizer"

// Params of the node.
type Params struct {
	Robot     string  `param:"robot" default:"quadrotor" read_only:"true" doc:"name of the vehicle, for diagnostics"`
	Rate      float64 `param:"rate" default:"50.0" min:"10" max:"400" unit:"Hz" read_only:"true" doc:"control ticks, as policy_controller has it"`
	BodyFrame string  `param:"body_frame" default:"base_link" read_only:"true" doc:"name of the body's frame on /tf"`
	Broadcast bool    `param:"broadcast_tf" default:"true" read_only:"true" doc:"publish the body's frame on /tf; false where somebody else does"`
	History   float64 `param:"history" default:"300.0" min:"10" max:"3600" unit:"s" read_only:"true" doc:"how much of the flight is kept for pages and maps"`
	Path      float64 `param:"path" default:"30.0" min:"1" max:"600" unit:"s" read_only:"true" doc:"length of the flown path and of the error tube in rviz"`
	Full      float64 `param:"error_full" default:"0.3" min:"0.001" max:"10" unit:"m" read_only:"true" doc:"error that the tube shows in full colour"`

	MapAt []float64 `param:"latent_map_at" default:"0,-3,0" min:"-1000" max:"1000" unit:"m" read_only:"true" doc:"where in the world the middle of the latent map lies: x, y, z"`

	Imagine float64    `param:"imagine_rate" default:"2.0" min:"0" max:"10" unit:"Hz" read_only:"true" doc:"rollouts of the learned model beside what was flown; 0 has none"`
	Horizon float64    `param:"horizon" default:"1.0" min:"0.1" max:"5" unit:"s" read_only:"true" doc:"length of the learned model's rollouts (imagine_rate)"`
	Page    web.Config `param:"page" doc:"live page for browsers"`
}

func (p *Params) check() error {
	if n := len(p.MapAt); n != 3 {
		return fmt.Errorf("parameter latent_map_at has %d numbers, expected x, y, z", n)
	}
	return nil
}

// Visualizer is the node. Steps have a group of their own; what takes time has another.
type Visualizer struct {
	*ros.Node
	params *Params
	scene  *scene.Scene
	page   *web.Server
	steps  *ros.Group
	slow   *ros.Group

	tf                               *ros.Publisher[tf2msgs.TFMessage]
	flown                            *ros.Publisher[navmsgs.Path]
	vehicle, tube, imagined, latents *ros.Publisher[visualizationmsgs.MarkerArray]

	rollback *ros.Client[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse]
	name     *ros.Client[msgs.SetConditionRequest, msgs.SetConditionResponse]

	rate *diagnostics.Frequency
	rows []scene.TickRow // of what is being drawn
}

// New makes the node; the page is served until ctx is done.
func New(ctx context.Context, c *ros.Context) (*Visualizer, error) {
	n, err := c.NewNode(Name)
	if err != nil {
		return nil, err
	}
	v := &Visualizer{Node: n, steps: c.NewGroup(ros.Exclusive), slow: c.NewGroup(ros.Exclusive),
		rate: diagnostics.NewFrequency(0, 1e9)}
	if err := v.begin(ctx); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return v, nil
}

func (v *Visualizer) begin(ctx context.Context) error {
	bound, err := params.Bind(v.Parameters(), (*Params).check)
	if err != nil {
		return err
	}
	v.params = bound.Load()
	v.scene = scene.New(scene.Config{History: v.params.History, Rate: v.params.Rate, Horizon: v.params.Horizon})
	for _, begin := range []func() error{v.publish, v.call, func() error { return v.serve(ctx) }, v.listen, v.watch,
		v.draw, v.diagnose} {
		if err := begin(); err != nil {
			return err
		}
	}
	return nil
}

// publish makes the publishers. What is drawn stays for those who come later.
func (v *Visualizer) publish() (err error) {
	if v.params.Broadcast {
		const depth = 100 // as tf2's broadcaster has it
		if v.tf, err = ros.NewPublisher[tf2msgs.TFMessage](v.Node, "/tf",
			ros.QoS{Reliability: dds.Reliable, Depth: depth}); err != nil {
			return err
		}
	}
	if v.flown, err = ros.NewPublisher[navmsgs.Path](v.Node, "~/flown", node.LatchedQoS()); err != nil {
		return err
	}
	for topic, p := range map[string]**ros.Publisher[visualizationmsgs.MarkerArray]{
		"~/vehicle": &v.vehicle, "~/error_tube": &v.tube, "~/imagined": &v.imagined, "~/latent_map": &v.latents,
	} {
		if *p, err = ros.NewPublisher[visualizationmsgs.MarkerArray](v.Node, topic, node.LatchedQoS()); err != nil {
			return err
		}
	}
	return nil
}

// call makes the clients of what the page may ask for.
func (v *Visualizer) call() (err error) {
	if v.rollback, err = ros.NewClient[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse](v.Node,
		"background_learner/rollback"); err != nil {
		return err
	}
	v.name, err = ros.NewClient[msgs.SetConditionRequest, msgs.SetConditionResponse](v.Node,
		"latent_encoder/name_condition")
	return err
}

// serve begins to serve the page.
func (v *Visualizer) serve(ctx context.Context) (err error) {
	v.page, err = web.Listen(v.params.Page, v.title(), v.scene, web.Actions{
		Rollback: func(ctx context.Context) (string, error) {
			a, err := asked(ctx, v.rollback, &stdsrvs.TriggerRequest{})
			if err != nil {
				return "", err
			}
			return said(a.Success, a.Message)
		},
		Name: func(ctx context.Context, condition string) (string, error) {
			a, err := asked(ctx, v.name, &msgs.SetConditionRequest{Condition: condition})
			if err != nil {
				return "", err
			}
			return said(a.Success, a.Message)
		},
		Graph: graph{v.Node, v.Context().NewGroup(ros.Exclusive)},
	})
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = v.page.Close() })
	v.Log().Info().Msgf("the page is at %s, and Foxglove connects to %s", v.page.URL(),
		strings.Replace(v.page.URL(), "http", "ws", 1))
	if open := v.page.Open(); open != "" {
		v.Log().Warn().Msgf("whoever reaches this machine on %s sees the flight", open)
	}
	if token := v.page.Token(); token != "" {
		v.Log().Info().Msgf("who wants something done from the page needs the token %s: open %s#token=%s", token,
			v.page.URL(), token)
	}
	return nil
}

// title of the page: the robot's namespace, or its name where it has none.
func (v *Visualizer) title() string {
	if ns := strings.Trim(v.Namespace(), "/"); ns != "" {
		return ns
	}
	return v.params.Robot
}

// patience with a service.
const patience = 35 * time.Second // the learner takes up to 30

func asked[Req, Resp any](ctx context.Context, c *ros.Client[Req, Resp], q *Req) (*Resp, error) {
	if !c.Available() {
		return nil, fmt.Errorf("nobody serves %s", c.Name())
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.Call(ctx, q)
}

func said(success bool, message string) (string, error) {
	if !success {
		return "", errors.New(message)
	}
	return message, nil
}

// listen subscribes to the flight.
func (v *Visualizer) listen() error {
	steps := ros.InGroup(v.steps)
	if _, err := ros.NewSubscription(v.Node, "step", node.StepQoS(), v.step, steps); err != nil {
		return err
	}
	if _, err := ros.NewSubscription(v.Node, "latent", node.LatentQoS(),
		func(m *msgs.Latent, _ ros.Info) { v.scene.Latent(m) }, steps); err != nil {
		return err
	}
	if _, err := ros.NewSubscription(v.Node, "mocap/pose", node.MocapQoS(),
		func(m *geometrymsgs.PoseStamped, i ros.Info) {
			v.scene.Sample(bridge.Nanoseconds(m.Header.Stamp), int64(i.Source))
		}, steps); err != nil {
		return err
	}
	_, err := ros.NewSubscription(v.Node, "reference/path", node.LatchedQoS(),
		func(m *navmsgs.Path, _ ros.Info) { v.scene.Path(m) })
	return err
}

// watch subscribes to what learns and to the health of all.
func (v *Visualizer) watch() error {
	if _, err := ros.NewSubscription(v.Node, "bundle", node.LatchedQoS(), v.bundle, ros.InGroup(v.slow)); err != nil {
		return err
	}
	if _, err := ros.NewSubscription(v.Node, "learner/status", node.LatchedQoS(),
		func(m *msgs.LearnerStatus, _ ros.Info) {
			v.scene.Status(m, time.Now())
		}); err != nil {
		return err
	}
	if _, err := ros.NewSubscription(v.Node, "condition", node.LatchedQoS(),
		func(m *diagnosticmsgs.DiagnosticStatus, _ ros.Info) {
			v.scene.SetCondition(m, time.Now())
		}); err != nil {
		return err
	}
	_, err := ros.NewSubscription(v.Node, "/diagnostics", ros.DefaultQoS(),
		func(m *diagnosticmsgs.DiagnosticArray, _ ros.Info) {
			v.scene.AddDiagnostics(m, time.Now())
		})
	return err
}

// step takes a tick.
func (v *Visualizer) step(m *msgs.Step, i ros.Info) {
	v.rate.Tick()
	if v.scene.Step(m, int64(i.Source)) && v.tf != nil {
		v.transform()
	}
}

// bundle takes a bundle: its model imagines from now on.
func (v *Visualizer) bundle(m *msgs.Bundle, _ ros.Info) {
	v.scene.AddBundle(m, time.Now())
	b, err := node.Unpack(m)
	if err == nil && v.params.Imagine > 0 {
		err = v.scene.AddModel(b)
	}
	if err != nil {
		v.Log().Warn().Msgf("topic bundle: %v", err)
	}
}

func (v *Visualizer) diagnose() error {
	u, err := diagnostics.New(v.Node, v.params.Robot)
	if err != nil {
		return err
	}
	u.Add("page", func(s *diagnostics.Status) {
		s.Summary(diagnostics.OK, "%d look at %s", v.page.Viewers(), v.page.URL())
		n := v.scene.Snapshot(time.Now())
		s.Add("steps", n.Steps)
		s.Add("steps lost", n.Lost)
		s.Add("rollouts imagined", n.Imagines)
	})
	return nil
}

// mapAt is the middle of the latent map.
func (v *Visualizer) mapAt() so3.Vec3 {
	p := v.params.MapAt
	return so3.Vec3{X: p[0], Y: p[1], Z: p[2]}
}
