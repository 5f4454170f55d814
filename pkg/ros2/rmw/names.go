package rmw

import "strings"

// Names that the graph gives to endpoints of processes that did not say whose
// they are (rmw_dds_common, graph_cache.cpp).
const (
	// A ROS process, whose nodes are not known (yet).
	UnknownNode      = "_NODE_NAME_UNKNOWN_"
	UnknownNamespace = "_NODE_NAMESPACE_UNKNOWN_"
	// A process that shows no sign of ROS; both name and namespace.
	BareApp = "_CREATED_BY_BARE_DDS_APP_"
)

// Hidden says whether tools leave out a node, topic or service of this name
// unless asked for all: one of its parts begins with an underscore (ros2cli,
// "hidden" names), as do an action's.
func Hidden(name string) bool {
	return strings.HasPrefix(name, "_") || strings.Contains(name, "/_")
}
