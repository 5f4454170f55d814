package ros

import (
	"fmt"

	tdi "vnd/msgs/type_description_interfaces"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros/description"
	"vnd/pkg/ros2/ros/params"
)

// descriptionsParameter is the parameter of newer nodes that enables their service
// ~/get_type_description.
const descriptionsParameter = "start_type_description_service"

// startDescriptions makes the service that describes the types that a node uses. Nodes of
// Humble have none.
func (n *Node) startDescriptions() error {
	if !rmw.AfterHumble(n.distro()) {
		return nil
	}
	on, err := n.parameters.Declare(descriptionsParameter, true, params.Descriptor{
		Description: "Start the ~/get_type_description service for this node.", ReadOnly: true,
	})
	if err != nil || on != true {
		return err
	}
	return serve(n, "~/get_type_description", n.describeType, []Option{InGroup(n.internal)})
}

func (n *Node) describeType(q *tdi.GetTypeDescriptionRequest, r *tdi.GetTypeDescriptionResponse) {
	d, err := description.Of(n.distro(), q.TypeName_)
	switch {
	case !n.uses(q.TypeName_):
		r.FailureReason = fmt.Sprintf("type %.100q is not in use by node %s", q.TypeName_, n.FullName())
		return
	case err != nil:
		r.FailureReason = err.Error()
		return
	case q.TypeHash != d.Hash:
		r.FailureReason = fmt.Sprintf("%s has the hash %s here, not %.100s", q.TypeName_, d.Hash, q.TypeHash)
		return
	}
	r.Successful, r.TypeDescription = true, d.Type
	if q.IncludeTypeSources {
		r.TypeSources = d.Sources
	}
}

// uses says whether a publisher, subscription, service or client of the node has the type.
func (n *Node) uses(typeName string) bool {
	for _, o := range n.allClosers() {
		if t, ok := o.(interface{ rosType() string }); ok && t.rosType() == typeName {
			return true
		}
	}
	return false
}
