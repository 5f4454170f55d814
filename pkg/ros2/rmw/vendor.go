package rmw

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

// OtherMiddleware are the nodes in a graph whose services do not answer those of Cyclone DDS, and their vendors.
func OtherMiddleware(g Graph) map[NodeName]string {
	found := map[NodeName]string{}
	for topic := range g.Topics() {
		for _, e := range append(g.Publishers(topic), g.Subscriptions(topic)...) {
			if v := OtherMapping(e.GID); v != "" {
				found[e.Node] = v
			}
		}
	}
	return found
}
