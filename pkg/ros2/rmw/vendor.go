package rmw

// Names of RMW_IMPLEMENTATION.
const (
	Cyclone        = "rmw_cyclonedds_cpp"
	FastDDS        = "rmw_fastrtps_cpp"
	FastDDSDynamic = "rmw_fastrtps_dynamic_cpp" // the same wire
)

// vendors by the second byte of their GUIDs (RTPS 2.5, §9.3.1.5 and §9.4.4); the first is 1.
var vendors = map[byte]string{0x01: "RTI Connext DDS", 0x0f: "Fast DDS", 0x12: "RustDDS"}

// OtherMapping is the vendor of an endpoint whose services have another mapping on the wire than those of Cyclone DDS;
// "" for Cyclone DDS, and for what is not known. Topics work all the same.
func OtherMapping(g GID) string {
	if g[0] != 1 {
		return ""
	}
	return vendors[g[1]]
}

// OfCyclone says whether an endpoint is of Cyclone DDS.
func OfCyclone(g GID) bool { return g[0] == 1 && g[1] == 0x10 }

// OtherMiddleware are the nodes in a graph whose services do not answer ours, and their vendors.
func OtherMiddleware(g Graph) map[NodeName]string {
	found := map[NodeName]string{}
	for topic := range g.Topics() {
		for _, e := range append(g.Publishers(topic), g.Subscriptions(topic)...) {
			if e.Foreign != "" {
				found[e.Node] = e.Foreign
			}
		}
	}
	return found
}
