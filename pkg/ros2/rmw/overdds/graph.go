package overdds

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// graph implements rmw.Graph: participants and endpoints as DDS discovers them, nodes
// as the participants announce them on ros_discovery_info.
type graph struct {
	sync    func() // brings the graph up to date
	related bool   // Options.SampleIdentity

	mu           sync.Mutex
	participants map[rmw.GID]*participant
	writers      map[rmw.GID]endpoint
	readers      map[rmw.GID]endpoint
	// undiscovered are participants whose nodes were announced before DDS discovered
	// them. Their nodes are listed from then on. Newer ones replace the oldest.
	undiscovered []rmw.GID
}

// maxUndiscovered bounds the memory that forged announcements can take.
const maxUndiscovered = 64

type participant struct {
	alive     bool // discovered
	announced bool // its nodes
	ros       bool // it has an enclave or nodes
	header    bool // its services know Cyclone DDS' mapping, whatever its vendor
	enclave   string
	nodes     []nodeInfo
}

type endpoint struct {
	participant  rmw.GID
	topic, typ   string
	hash         string
	client, pair string // clientid, serviceid: of Cyclone DDS' mapping
	qos          rmw.QoS
}

func newGraph(related bool) *graph {
	return &graph{
		related:      related,
		participants: map[rmw.GID]*participant{},
		writers:      map[rmw.GID]endpoint{},
		readers:      map[rmw.GID]endpoint{},
	}
}

// apply enters a change that DDS discovered.
func (g *graph) apply(c dds.Change) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case c.Kind == dds.ParticipantKind && c.Alive:
		p := g.participant(c.GUID)
		p.alive = true
		if enclave, found := parseUserData(c.UserData)[enclaveKey]; found {
			p.enclave, p.ros = enclave, true
		}
	case c.Kind == dds.ParticipantKind:
		delete(g.participants, c.GUID)
	case !c.Alive:
		delete(g.endpoints(c.Kind), c.GUID)
	case !strings.HasPrefix(c.Topic.Name, "DCPS"): // DDS' own
		pairs := parseUserData(c.UserData)
		if p := g.participants[c.Participant]; p != nil && pairs[clientKey]+pairs[serverKey] != "" {
			p.header = true
		}
		c.QoS.UserData, c.QoS.IgnoreLocal = nil, false
		g.endpoints(c.Kind)[c.GUID] = endpoint{participant: c.Participant, topic: c.Topic.Name,
			typ: c.Topic.Type, hash: parseHash(pairs[hashKey]),
			client: pairs[clientKey], pair: pairs[serverKey], qos: c.QoS}
	}
}

func (g *graph) endpoints(k dds.Kind) map[rmw.GID]endpoint {
	if k == dds.WriterKind {
		return g.writers
	}
	return g.readers
}

// participant finds or makes one.
func (g *graph) participant(gid rmw.GID) *participant {
	p := g.participants[gid]
	if p == nil {
		p = &participant{}
		g.participants[gid] = p
	}
	return p
}

// announce enters the nodes that a participant announced. An announcement by a writer
// of another participant is ignored; a zero writer is not checked.
func (g *graph) announce(m *info, writer rmw.GID) {
	const prefix = 12
	if writer != (rmw.GID{}) && !bytes.Equal(writer[:prefix], m.gid[:prefix]) {
		return // another participant's nodes
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.participant(m.gid)
	p.nodes, p.ros, p.announced = m.nodes, true, true
	if p.alive || slices.Contains(g.undiscovered, m.gid) {
		return
	}
	g.undiscovered = append(g.undiscovered, m.gid)
	if len(g.undiscovered) > maxUndiscovered {
		if s := g.participants[g.undiscovered[0]]; s != nil && !s.alive {
			delete(g.participants, g.undiscovered[0])
		}
		g.undiscovered = slices.Delete(g.undiscovered, 0, 1)
	}
}

// clientOf and serverOf return the id that the two endpoints of a client or server
// share; known is false when there is no such endpoint.
func (g *graph) clientOf(k dds.Kind, gid rmw.GID) (id string, known bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e, known := g.endpoints(k)[gid]
	return e.client, known
}

func (g *graph) serverOf(k dds.Kind, gid rmw.GID) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.endpoints(k)[gid].pair
}

// foreign is the vendor of an endpoint whose services have another mapping than ours.
// Those of our own processes on Fast DDS know both. The caller holds mu.
func (g *graph) foreign(gid, owner rmw.GID) string {
	if p := g.participants[owner]; g.related || p != nil && p.header {
		return ""
	}
	return rmw.OtherMapping(gid)
}

// foreignWriter is foreign of a writer.
func (g *graph) foreignWriter(gid rmw.GID) string {
	if g.related || rmw.OtherMapping(gid) == "" {
		return ""
	}
	g.snapshot()
	defer g.mu.Unlock()
	return g.foreign(gid, g.writers[gid].participant)
}

// snapshot brings the graph up to date and leaves it locked.
func (g *graph) snapshot() {
	g.sync()
	g.mu.Lock()
}

func (g *graph) Nodes() []rmw.NodeName {
	g.snapshot()
	defer g.mu.Unlock()
	var names []rmw.NodeName
	for _, p := range g.participants {
		if !p.alive {
			continue
		}
		for i := range p.nodes {
			names = append(names, p.name(&p.nodes[i]))
		}
	}
	slices.SortFunc(names, compareNodes)
	return names
}

func (p *participant) name(n *nodeInfo) rmw.NodeName {
	return rmw.NodeName{Namespace: n.namespace, Name: n.name, Enclave: p.enclave}
}

func compareNodes(a, b rmw.NodeName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Enclave, b.Enclave))
}

func (g *graph) Topics() map[string][]string {
	return g.names(demangleTopic, demangleType)
}

func (g *graph) Services() map[string][]string {
	return g.names(func(topic string) string {
		return cmp.Or(demangleReply(topic), demangleRequest(topic))
	}, demangleServiceType)
}

// names collects the names and types of all endpoints.
func (g *graph) names(name, typ func(string) string) map[string][]string {
	g.snapshot()
	defer g.mu.Unlock()
	m := map[string][]string{}
	for _, endpoints := range []map[rmw.GID]endpoint{g.writers, g.readers} {
		for _, e := range endpoints {
			addName(m, name(e.topic), typ(e.typ))
		}
	}
	return m
}

// addName keeps types sorted and unique. Names that are not ROS' are empty here.
func addName(m map[string][]string, name, typ string) {
	if name == "" || typ == "" {
		return
	}
	if i, found := slices.BinarySearch(m[name], typ); !found {
		m[name] = slices.Insert(m[name], i, typ)
	}
}

func (g *graph) Publishers(topic string) []rmw.Endpoint {
	return g.of(dds.WriterKind, topic)
}

func (g *graph) Subscriptions(topic string) []rmw.Endpoint {
	return g.of(dds.ReaderKind, topic)
}

func (g *graph) of(k dds.Kind, topic string) []rmw.Endpoint {
	g.snapshot()
	defer g.mu.Unlock()
	var found []rmw.Endpoint
	topic = mangleTopic(topic)
	for gid, e := range g.endpoints(k) {
		if e.topic == topic {
			found = append(found, rmw.Endpoint{Node: g.nodeOf(k, gid, e.participant),
				Type: demangleType(e.typ), Hash: e.hash, GID: gid, QoS: e.qos,
				Foreign: g.foreign(gid, e.participant)})
		}
	}
	slices.SortFunc(found, func(a, b rmw.Endpoint) int {
		return cmp.Or(compareNodes(a.Node, b.Node), bytes.Compare(a.GID[:], b.GID[:]))
	})
	return found
}

// nodeOf finds the node that an endpoint was announced with.
func (g *graph) nodeOf(k dds.Kind, gid, owner rmw.GID) rmw.NodeName {
	p := g.participants[owner]
	if p == nil || !p.ros {
		return rmw.NodeName{Namespace: rmw.BareApp, Name: rmw.BareApp}
	}
	for i := range p.nodes {
		if slices.Contains(p.nodes[i].gids(k), gid) {
			return p.name(&p.nodes[i])
		}
	}
	return rmw.NodeName{Namespace: rmw.UnknownNamespace, Name: rmw.UnknownNode, Enclave: p.enclave}
}

func (n *nodeInfo) gids(k dds.Kind) []rmw.GID {
	if k == dds.WriterKind {
		return n.writers
	}
	return n.readers
}

// Pending implements rmw.Graph.
func (g *graph) Pending() (n int) {
	g.snapshot()
	defer g.mu.Unlock()
	announced := map[rmw.GID]dds.Kind{}
	for _, p := range g.participants {
		if p.alive && p.ros && !p.announced {
			n++
		}
		for i := range p.nodes {
			for _, gid := range p.nodes[i].writers {
				announced[gid] = dds.WriterKind
			}
			for _, gid := range p.nodes[i].readers {
				announced[gid] = dds.ReaderKind
			}
		}
	}
	for gid, k := range announced {
		if _, known := g.endpoints(k)[gid]; !known {
			n++
		}
	}
	for _, all := range []map[rmw.GID]endpoint{g.writers, g.readers} {
		for gid, e := range all {
			p := g.participants[e.participant]
			if p != nil && p.ros && announced[gid] == 0 && demangleTopic(e.topic) != "" {
				n++
			}
		}
	}
	return n
}

// Of merges the nodes of that name when there are several.
func (g *graph) Of(name rmw.NodeName) (rmw.NodeGraph, error) {
	g.snapshot()
	defer g.mu.Unlock()
	of := rmw.NodeGraph{Publishers: map[string][]string{}, Subscriptions: map[string][]string{},
		Servers: map[string][]string{}, Clients: map[string][]string{}}
	found := false
	for _, p := range g.participants {
		for i := range p.nodes {
			n := &p.nodes[i]
			if p.alive && n.namespace == name.Namespace && n.name == name.Name {
				found = true
				g.collect(&of, n)
			}
		}
	}
	if !found {
		return rmw.NodeGraph{}, rmw.ErrNoNode
	}
	return of, nil
}

// collect adds a node's endpoints. A server's reader takes requests, a client's
// responses.
func (g *graph) collect(of *rmw.NodeGraph, n *nodeInfo) {
	for _, gid := range n.writers {
		e := g.writers[gid]
		addName(of.Publishers, demangleTopic(e.topic), demangleType(e.typ))
	}
	for _, gid := range n.readers {
		e := g.readers[gid]
		addName(of.Subscriptions, demangleTopic(e.topic), demangleType(e.typ))
		addName(of.Servers, demangleRequest(e.topic), demangleServiceType(e.typ))
		addName(of.Clients, demangleReply(e.topic), demangleServiceType(e.typ))
	}
}
