package overdds

import "strings"

// Names of ROS as they appear in DDS (design.ros2.org "Topic and Service name mapping
// to DDS"; rmw_cyclonedds_cpp, namespace_prefix.hpp and demangle.cpp).
const (
	topicPrefix, requestPrefix, replyPrefix = "rt", "rq", "rr"

	requestSuffix, replySuffix = "Request", "Reply"
)

// mangleTopic of "/a/b" is "rt/a/b".
func mangleTopic(name string) string { return topicPrefix + name }

// mangleService of "/a/s" is "rq/a/sRequest" and "rr/a/sReply".
func mangleService(name string) (request, reply string) {
	return requestPrefix + name + requestSuffix, replyPrefix + name + replySuffix
}

// mangleType of "std_msgs/msg/String" is "std_msgs::msg::dds_::String_"; part is
// "", requestType or responseType.
func mangleType(name, part string) string {
	slash := strings.LastIndexByte(name, '/')
	return strings.ReplaceAll(name[:slash], "/", "::") + "::dds_::" + name[slash+1:] + part + "_"
}

// demangleTopic returns the ROS topic, or "" when it is none.
func demangleTopic(topic string) string { return between(topic, topicPrefix, "") }

// demangleRequest returns the service whose requests these are, or "".
func demangleRequest(topic string) string { return between(topic, requestPrefix, requestSuffix) }

// demangleReply returns the service whose responses these are, or "".
func demangleReply(topic string) string { return between(topic, replyPrefix, replySuffix) }

// between cuts off prefix, which a slash must follow, and suffix; "" without them.
func between(topic, prefix, suffix string) string {
	name, found := strings.CutPrefix(topic, prefix)
	if !found || name == "" || name[0] != '/' {
		return ""
	}
	if name, found = strings.CutSuffix(name, suffix); !found {
		return ""
	}
	return name
}

// demangleType returns the ROS type, or the DDS type unchanged when it is none:
// ROS' tools show it so.
func demangleType(name string) string {
	namespace, short, found := strings.Cut(name, "dds_::")
	short, ends := strings.CutSuffix(short, "_")
	if !found || !ends {
		return name
	}
	return strings.ReplaceAll(namespace, "::", "/") + short
}

// demangleServiceType returns the ROS service whose request or response this is,
// or "".
func demangleServiceType(name string) string {
	demangled := demangleType(name)
	if demangled == name {
		return ""
	}
	for _, part := range []string{responseType, requestType} {
		if service, found := strings.CutSuffix(demangled, part); found {
			return service
		}
	}
	return ""
}
