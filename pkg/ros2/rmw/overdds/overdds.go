// Package overdds is a ROS 2 middleware over any DDS. Names, services, user data and
// the graph of nodes are on the wire as rmw_cyclonedds_cpp has them, or services as
// rmw_fastrtps. Humble is the reference; Options.Distro switches what changed with Iron.
package overdds

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// Options of a Context.
type Options struct {
	// Distro is ROS_DISTRO, the distribution whose wire format is used; "" is humble.
	Distro string
	// Enclave is the one in the participant's UserData; "" is "/".
	Enclave string
	// SampleIdentity: services are those of rmw_fastrtps, where the identity of a request
	// stands beside a sample, and not in a header of it. The participant's writers are
	// dds.RelatedWriters. Endpoints of Cyclone DDS are spoken to in their own mapping.
	SampleIdentity bool
}

// context implements rmw.Context on one participant.
type context struct {
	participant dds.Participant
	newer       bool
	related     bool // Options.SampleIdentity
	graph       *graph
	infoWriter  dds.Writer
	infoReader  dds.Reader
	takeInfo    func(*dds.Sample)
	changed     atomic.Bool   // the graph changed since Wait last reported it
	waiting     atomic.Bool   // a goroutine is in Wait
	woken       atomic.Bool   // Wake was called and no Wait has returned for it yet
	pairs       atomic.Uint32 // number of ids given to clients and servers
	raw         []dds.Ready   // the participant's reasons in Wait

	syncMu sync.Mutex // held by the one goroutine that is in sync

	mu      sync.Mutex // guards what follows and orders announcements
	nodes   []*node
	message []byte
	closed  bool
}

// New makes a participant a ROS process. The participant carries UserData(enclave).
// The Context owns it: Close closes it, and so does an error here.
func New(p dds.Participant, o Options) (rmw.Context, error) {
	c := &context{participant: p, newer: rmw.AfterHumble(o.Distro), related: o.SampleIdentity,
		graph: newGraph(o.SampleIdentity)}
	c.graph.sync = func() { c.sync(); c.wakeOnChange() }
	c.takeInfo = c.onInfo
	enclave := o.Enclave
	if enclave == "" {
		enclave = "/"
	}
	// The own participant is in the graph at once, without discovery.
	c.graph.apply(dds.Change{Kind: dds.ParticipantKind, Alive: true, GUID: p.GUID(), UserData: UserData(enclave)})
	if err := c.join(); err != nil {
		p.Close()
		return nil, fmt.Errorf("joining the ROS graph: %w", err)
	}
	return c, nil
}

// join opens the endpoints that carry the graph, writer first as ROS does.
func (c *context) join() (err error) {
	if c.infoWriter, err = c.participant.NewWriter(infoTopic, infoWriterQoS(), &internalOwner{}); err != nil {
		return err
	}
	if c.infoReader, err = c.participant.NewReader(infoTopic, infoReaderQoS(),
		&internalOwner{graph: true}); err != nil {
		return err
	}
	return c.announce()
}

func (c *context) GID() rmw.GID { return c.participant.GUID() }

func (c *context) Graph() rmw.Graph { return c.graph }

func (c *context) NewNode(namespace, name string) (rmw.Node, error) {
	if namespace == "" || namespace[0] != '/' || name == "" {
		return nil, fmt.Errorf("node %q in namespace %q: expected a name, and a namespace that begins with /", name,
			namespace)
	}
	n := &node{context: c, namespace: namespace, name: name}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, rmw.ErrClosed
	}
	c.nodes = append(c.nodes, n)
	if err := c.announce(); err != nil {
		c.nodes = c.nodes[:len(c.nodes)-1]
		return nil, fmt.Errorf("node %q in namespace %q: %w", name, namespace, err)
	}
	return n, nil
}

// announce publishes the nodes of this process, and enters them into the own graph.
// The caller holds mu.
func (c *context) announce() error {
	m := &info{gid: c.GID(), nodes: make([]nodeInfo, len(c.nodes))}
	for i, n := range c.nodes {
		m.nodes[i] = n.info()
	}
	size := humbleGid
	if c.newer {
		size = newerGid
	}
	message, err := appendInfo(c.message[:0], size, m)
	if err != nil {
		return err
	}
	c.message = message
	if err := c.infoWriter.Write(message, 0); err != nil {
		return fmt.Errorf("%s: %w", infoTopic.Name, err)
	}
	c.graph.announce(m, m.gid)
	c.changed.Store(true)
	c.wakeOnChange()
	return nil
}

// sync brings the graph up to date with what arrived. Announcements go first: DDS has
// discovered their participant before.
func (c *context) sync() {
	c.syncMu.Lock()
	defer c.syncMu.Unlock()
	const batch = 64
	for {
		// An error means that the context is closed; the graph stays as it was.
		if n, err := c.infoReader.Take(batch, c.takeInfo); err != nil || n < batch {
			break
		}
	}
	_ = c.participant.Changes(c.onChange)
}

func (c *context) onInfo(s *dds.Sample) {
	if m, err := parseInfo(s.Data); err == nil { // other samples are ignored
		c.graph.announce(m, s.Writer)
		c.changed.Store(true)
	}
}

func (c *context) onChange(change dds.Change) {
	c.graph.apply(change)
	c.changed.Store(true)
}

// Close takes all nodes out of the graph, then the process.
func (c *context) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	nodes := c.nodes
	c.nodes = nil
	err := c.announce()
	c.mu.Unlock()
	for _, n := range nodes {
		err = errors.Join(err, n.closeEntities())
	}
	return errors.Join(err, c.participant.Close())
}
