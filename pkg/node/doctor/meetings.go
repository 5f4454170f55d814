package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"vnd/pkg/flight/preflight"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// meetings finds publishers and subscriptions of a topic that do not meet, for their types or their QoS, among the
// topics of the robot's namespace and those that the examiner hears.
func (e *Examiner) meetings() (found []preflight.Finding) {
	g := e.Context().Graph()
	under := strings.TrimSuffix(e.Namespace(), "/") + "/"
	looked := 0
	for _, topic := range slices.Sorted(maps.Keys(g.Topics())) {
		if !strings.HasPrefix(topic, under) && topic != e.state.topic && topic != e.command.topic {
			continue
		}
		looked++
		for _, p := range g.Publishers(topic) {
			for _, s := range g.Subscriptions(topic) {
				if why := apart(&p, &s); why != "" {
					found = append(found, preflight.Finding{Name: "QoS", Wrong: true,
						Detail: fmt.Sprintf("topic %s: %s does not hear %s: %s", topic,
							nodeName(s.Node.Namespace, s.Node.Name), nodeName(p.Node.Namespace, p.Node.Name), why),
						Remedy: "give both the same (qos_overrides of either node)"})
				}
			}
		}
	}
	if found == nil {
		found = append(found, preflight.Finding{Name: "QoS",
			Detail: fmt.Sprintf("publishers and subscriptions of %d topics meet", looked)})
	}
	return found
}

// apart is why a subscription does not hear a publisher; "" where it does.
func apart(p, s *rmw.Endpoint) string {
	switch offered, asked := p.QoS, s.QoS; {
	case p.Type != s.Type:
		return fmt.Sprintf("types %s and %s", p.Type, s.Type)
	case asked.Reliability == dds.Reliable && offered.Reliability != dds.Reliable:
		return "RELIABILITY: best effort is offered, reliable is asked for"
	case asked.Durability > offered.Durability:
		return "DURABILITY: volatile is offered, transient local is asked for"
	case asked.Deadline > 0 && (offered.Deadline == 0 || offered.Deadline > asked.Deadline):
		return fmt.Sprintf("DEADLINE: %v is asked for, and not offered", asked.Deadline)
	case asked.Lease > 0 && (offered.Lease == 0 || offered.Lease > asked.Lease):
		return fmt.Sprintf("LIVELINESS: a lease of %v is asked for, and not offered", asked.Lease)
	}
	return ""
}

// middlewares finds nodes whose services do not answer ours: wrong where those are an autopilot's.
func middlewares(g rmw.Graph) (found []preflight.Finding) {
	for n, vendor := range rmw.OtherMiddleware(g) {
		f := preflight.Finding{Name: "middleware", Detail: fmt.Sprintf("%s speaks %s: its topics work, its services "+
			"and parameters do not", nodeName(n.Namespace, n.Name), vendor)}
		of, err := g.Of(n)
		for service := range of.Servers {
			if err == nil && strings.Contains(service, "/mavros/") {
				f.Wrong, f.Remedy = true, "start it with RMW_IMPLEMENTATION="+rmw.Cyclone+
					", or ours with "+rmw.FastDDS
			}
		}
		found = append(found, f)
	}
	slices.SortFunc(found, func(a, b preflight.Finding) int { return strings.Compare(a.Detail, b.Detail) })
	return found
}
