package rmw

import "strings"

// Names of the node of endpoints that no node has announced (rmw_dds_common,
// graph_cache.cpp).
const (
	// In a ROS process.
	UnknownNode      = "_NODE_NAME_UNKNOWN_"
	UnknownNamespace = "_NODE_NAMESPACE_UNKNOWN_"
	// In a process without an enclave and nodes; both name and namespace.
	BareApp = "_CREATED_BY_BARE_DDS_APP_"
)

// Hidden says whether tools hide a node, topic or service of this name: one of its parts
// begins with an underscore (ros2cli, "hidden" names). Those of actions do.
func Hidden(name string) bool {
	return strings.HasPrefix(name, "_") || strings.Contains(name, "/_")
}
