package learner

import (
	"errors"
	"fmt"
	"math"
	"time"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/bridge"
	"vnd/pkg/core/param"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/params"
)

// controllerName is the node that flies what the learner makes.
const controllerName = "policy_controller"

// responseGroup are the parameters of guard.Response, in both nodes.
const responseGroup = "guard.response."

// sharedParameters are those of policy_controller that the gate's flights should have, too.
func sharedParameters() []string {
	all := []string{"state_source", "state_filter"}
	for _, d := range param.Describe(new(guard.Response)) {
		all = append(all, responseGroup+d.Name)
	}
	return all
}

// watchController begins to compare the gate's flights with how the robot's controller flies. Without that the node
// learns all the same: older keys of SROS 2 do not allow it.
func (r *robot) watchController(p *Params, every time.Duration) {
	of := in(r.namespace, controllerName)
	full, err := r.ResolveTopic(of)
	if err == nil {
		r.controller, err = node.WatchParameters(r.Node, node.PeerWatch{Of: of, Names: sharedParameters(),
			Every: every, Without: "the gate's flights are not compared with it",
			Check: func(values []rclinterfaces.ParameterValue) error { return r.compare(p, full, values) }})
	}
	if err != nil {
		r.Log().Warn().Msgf("the gate's flights are not compared with %s: %v", of, err)
	}
}

// compare says where the gate's flights are not as a controller flies, and logs it once.
func (r *robot) compare(p *Params, controller string, values []rclinterfaces.ParameterValue) error {
	c, err := controllerConfig(values)
	if err != nil {
		return err
	}
	err = p.differs(controller, c)
	if err != nil && r.differences.First(err.Error()) {
		r.Log().Warn().Msg(err.Error())
	}
	return err
}

// controllerConfig is what values of sharedParameters say of a controller.
func controllerConfig(values []rclinterfaces.ParameterValue) (*control.Config, error) {
	c := new(control.Config)
	for i, name := range sharedParameters() {
		v, err := params.FromMessage(&values[i])
		if err == nil {
			err = param.Assign(c, name, v)
		}
		if err != nil {
			return nil, fmt.Errorf("parameter %s of the controller %w: %w", name, bridge.ErrNotKnown, err)
		}
	}
	return c, nil
}

// differs says where the gate's flights are not as a controller flies.
func (p *Params) differs(controller string, c *control.Config) error {
	if !c.MeasuresVelocity() && c.Filter != p.Judge.Filter {
		return fmt.Errorf("judge.state_filter is %t, and %s flies with state_filter: %t: set both alike",
			p.Judge.Filter, controller, c.Filter)
	}
	const rounding = 5e-4 // s, or 1/s
	gate, flown := param.Values(&p.Guard.Response), param.Values(&c.Guard.Response)
	for _, d := range param.Describe(&p.Guard.Response) {
		a, b := gate[d.Name].(float64), flown[d.Name].(float64)
		if math.Abs(a-b) > rounding {
			return fmt.Errorf("%[1]s is %[2]g, and %[3]s flies with %[1]s: %[4]g: give both one airframe file",
				responseGroup+d.Name, a, controller, b)
		}
	}
	return nil
}

// diagnoseController warns where the gate's flights are not as the controller flies.
func (r *robot) diagnoseController(s *diagnostics.Status) {
	if r.controller == nil {
		return
	}
	key, value, err := "Controller's parameters", "as in the gate", r.controller.Err()
	if r.namespace != "" {
		key += " of " + robotName(r.namespace)
	}
	switch {
	case !r.controller.Available() || errors.Is(err, node.ErrNoAnswer) || errors.Is(err, bridge.ErrNotKnown):
		value = "not known"
	case err != nil:
		value = "not as in the gate"
		s.Merge(diagnostics.Warn, "%v", err)
	}
	s.Add(key, value)
}
