package node

import (
	"vnd/pkg/core/param"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/params"
)

// BindAirframe is params.Bind for the parameters of a node that knows its vehicle. The file that the parameter airframe
// names gives the vehicle's; what the command line sets wins.
func BindAirframe[T any, P interface {
	*T
	SetAirframe(*airframe.Airframe)
}](n *ros.Node, check func(*T) error) (*params.Bound[T], error) {
	said := n.Parameters().Unused() // all, for none is declared yet
	a, warning, err := airframe.LoadBeside(airframe.Named(said), said)
	if err != nil {
		return nil, err
	}
	if warning != "" {
		n.Log().Warn().Msg(warning)
	}
	first := new(T)
	param.Default(first)
	P(first).SetAirframe(&a)
	return params.BindFrom(n.Parameters(), first, check)
}
