package armcontroller

import (
	"errors"
	"fmt"

	"vnd/pkg/bridge"
	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/node"
	"vnd/pkg/robot/arm"
)

// Name of the node.
const Name = "arm_controller"

// Params of the node, read at its start.
type Params struct {
	Autostart  bool     `param:"autostart" default:"false" read_only:"true" doc:"configure and activate the node at its start"`
	BundleFile string   `param:"bundle_file" default:"" read_only:"true" doc:"bundle whose policy follows references; empty: computed torque does"`
	Reference  string   `param:"reference_json" default:"" read_only:"true" doc:"reference that is followed from the start, one JSON object as of ~/set_task; empty: the arm is held"`
	Joints     []string `param:"joints" default:"" read_only:"true" doc:"names of the joints from base to flange, as the effort controller must list them; empty: panda_joint1 to panda_joint7"`
	BaseFrame  string   `param:"base_frame" default:"panda_link0" read_only:"true" doc:"frame of poses on reference/pose: that of the arm's base"`

	Guard armcontrol.Config `param:"guard" read_only:"true" doc:"guard: when the law holds the arm"`
	node.Trust
}

func (p *Params) check() error {
	err := errors.Join(p.joints().Check(arm.Joints), p.Guard.Check(), p.Trust.Check())
	if err == nil && p.Reference != "" {
		if _, err = armcontrol.ParseReference([]byte(p.Reference), armcontrol.Period); err != nil {
			err = fmt.Errorf("parameter reference_json: %w", err)
		}
	}
	return err
}

func (p *Params) joints() bridge.Joints { return bridge.PandaJoints(p.Joints) }
