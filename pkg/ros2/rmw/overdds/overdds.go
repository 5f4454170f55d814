// Package overdds is a ROS 2 middleware over any DDS: names, services, user data
// and the graph of nodes as rmw_cyclonedds_cpp puts them on the wire. Humble is
// the reference; what changed with Iron is switched by Options.Distro.
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
	// Distro is ROS_DISTRO: which distribution's wire to speak; "" is humble.
	Distro string
	// Enclave is that of the participant's UserData; "" is "/".
	Enclave string
}

// newer says that Gids have 16 bytes and types announce their hashes: from Iron
// on. The distributions' names go through the alphabet.
func (o Options) newer() bool { return o.Distro >= "iron" }

// context is one participant as a part of the ROS graph.
type context struct {
	participant dds.Participant
	newer       bool
	graph       *graph
	infoWriter  dds.Writer
	infoReader  dds.Reader
	takeInfo    func(*dds.Sample)
	changed     atomic.Bool   // the graph, since Wait last said so
	waiting     atomic.Bool   // somebody is in Wait
	woken       atomic.Bool   // Wake was called, and no Wait has returned for it yet
	pairs       atomic.Uint32 // ids of clients and servers given so far
	raw         []dds.Ready   // of Wait

	syncMu sync.Mutex // one goroutine takes in what arrived

	mu      sync.Mutex // guards what follows and orders announcements
	nodes   []*node
	message []byte
	closed  bool
}

// New makes a participant a ROS process. The participant carries
// UserData(enclave); Close of the Context closes it, and so does an error here.
func New(p dds.Participant, o Options) (rmw.Context, error) {
	c := &context{participant: p, newer: o.newer(), graph: newGraph()}
	c.graph.sync = func() { c.sync(); c.tell() }
	c.takeInfo = c.onInfo
	enclave := o.Enclave
	if enclave == "" {
		enclave = "/"
	}
	// What a process knows of itself does not wait for its own discovery.
	c.graph.apply(dds.Change{Kind: dds.ParticipantKind, Alive: true, GUID: p.GUID(), UserData: UserData(enclave)})
	if err := c.join(); err != nil {
		p.Close()
		return nil, fmt.Errorf("joining the ROS graph: %w", err)
	}
	return c, nil
}

// join makes the endpoints that carry the graph, writer first as ROS does.
func (c *context) join() (err error) {
	if c.infoWriter, err = c.participant.NewWriter(infoTopic, infoWriterQoS(), &inner{}); err != nil {
		return err
	}
	if c.infoReader, err = c.participant.NewReader(infoTopic, infoReaderQoS(), &inner{graph: true}); err != nil {
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

// announce tells everybody, this process included, which nodes there are here.
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
	c.tell()
	return nil
}

// sync takes in what was announced and discovered. Announcements go first: of
// whoever made one, DDS has discovered the participant before.
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
	if m, err := parseInfo(s.Data); err == nil { // what is not an announcement tells nothing
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
		err = errors.Join(err, n.shutAll())
	}
	return errors.Join(err, c.participant.Close())
}
