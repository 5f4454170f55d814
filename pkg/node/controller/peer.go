package controller

import (
	"fmt"
	"time"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/node"
)

type parameterValue = rclinterfaces.ParameterValue

// watchParameters begins to ask a node that stands between vnd and an autopilot, twice a second until the configuration
// ends.
func (c *Controller) watchParameters(of string, check func([]parameterValue) error, names ...string) (
	*node.PeerParameters, error) {
	p, err := node.WatchParameters(c.Node, node.PeerWatch{Of: of, Names: names, Every: 500 * time.Millisecond,
		Without: fmt.Sprintf("nothing is sent before %s of the autopilot is known", names[0]), Check: check})
	if err == nil {
		c.keep(p)
	}
	return p, err
}
