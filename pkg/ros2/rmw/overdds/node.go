package overdds

import (
	"errors"
	"fmt"
	"slices"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// node is a node's place in the graph.
type node struct {
	context         *context
	namespace, name string

	// Guarded by context.mu.
	entities []entity // in the order that they were made
	closed   bool
}

// entity is a publisher, subscription, server or client.
type entity interface {
	// gids are those of its endpoints; zero where it has none.
	gids() (reader, writer rmw.GID)
	// shut closes the endpoints.
	shut() error
}

// info is what is announced of a node. The caller holds context.mu.
func (n *node) info() nodeInfo {
	m := nodeInfo{namespace: n.namespace, name: n.name}
	for _, e := range n.entities {
		r, w := e.gids()
		if r != (rmw.GID{}) {
			m.readers = append(m.readers, r)
		}
		if w != (rmw.GID{}) {
			m.writers = append(m.writers, w)
		}
	}
	return m
}

// add makes an entity the node's, or shuts it.
func (n *node) add(e entity) error {
	n.context.mu.Lock()
	defer n.context.mu.Unlock()
	if n.closed || n.context.closed {
		return errors.Join(rmw.ErrClosed, e.shut())
	}
	n.entities = append(n.entities, e)
	if err := n.context.announce(); err != nil {
		n.entities = n.entities[:len(n.entities)-1]
		return errors.Join(err, e.shut())
	}
	return nil
}

// remove takes an entity out of the graph and shuts it, once.
func (n *node) remove(e entity) error {
	n.context.mu.Lock()
	i := slices.Index(n.entities, e)
	if i < 0 {
		n.context.mu.Unlock()
		return nil
	}
	n.entities = slices.Delete(n.entities, i, i+1)
	var err error
	if !n.closed && !n.context.closed {
		err = n.context.announce()
	}
	n.context.mu.Unlock()
	return errors.Join(err, e.shut())
}

// Close is in the interface.
func (n *node) Close() error {
	c := n.context
	c.mu.Lock()
	if n.closed || c.closed {
		c.mu.Unlock()
		return nil
	}
	n.closed = true
	c.nodes = slices.DeleteFunc(c.nodes, func(other *node) bool { return other == n })
	err := c.announce()
	c.mu.Unlock()
	return errors.Join(err, n.shutAll())
}

// shutAll shuts what is left of the node's entities.
func (n *node) shutAll() error {
	n.context.mu.Lock()
	left := n.entities
	n.entities = nil
	n.context.mu.Unlock()
	var err error
	for _, e := range left {
		err = errors.Join(err, e.shut())
	}
	return err
}

// userData of an endpoint: its half of a pair, and its type's hash where the
// distribution announces it.
func (c *context) userData(pair, hash string) []byte {
	if c.newer {
		pair += hashPair(hash)
	}
	return []byte(pair)
}

func topicOf(t rmw.Topic) dds.Topic {
	return dds.Topic{Name: mangleTopic(t.Name), Type: mangleType(t.Type, "")}
}

func (n *node) NewPublisher(t rmw.Topic, q rmw.QoS, owner any) (rmw.Publisher, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	q.UserData = n.context.userData("", t.Hash)
	if owner == nil {
		owner = &inner{}
	}
	w, err := n.context.participant.NewWriter(topicOf(t), q, owner)
	if err != nil {
		return nil, fmt.Errorf("topic %s: %w", t.Name, err)
	}
	p := &publisher{node: n, writer: w}
	if err := n.add(p); err != nil {
		return nil, fmt.Errorf("topic %s: %w", t.Name, err)
	}
	return p, nil
}

func (n *node) NewSubscription(t rmw.Topic, q rmw.QoS, owner any) (rmw.Subscription, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if owner == nil {
		return nil, fmt.Errorf("topic %s: %w", t.Name, rmw.ErrNoOwner)
	}
	q.UserData = n.context.userData("", t.Hash)
	r, err := n.context.participant.NewReader(topicOf(t), q, owner)
	if err != nil {
		return nil, fmt.Errorf("topic %s: %w", t.Name, err)
	}
	s := &subscription{node: n, reader: r}
	if err := n.add(s); err != nil {
		return nil, fmt.Errorf("topic %s: %w", t.Name, err)
	}
	return s, nil
}

type publisher struct {
	node   *node
	writer dds.Writer
}

func (p *publisher) gids() (reader, writer rmw.GID)            { return rmw.GID{}, p.GID() }
func (p *publisher) shut() error                               { return p.writer.Close() }
func (p *publisher) GID() rmw.GID                              { return p.writer.GUID() }
func (p *publisher) Publish(message []byte, stamp int64) error { return p.writer.Write(message, stamp) }
func (p *publisher) Status() dds.Status                        { return p.writer.Status() }
func (p *publisher) Close() error                              { return p.node.remove(p) }

type subscription struct {
	node   *node
	reader dds.Reader
}

func (s *subscription) gids() (reader, writer rmw.GID) { return s.GID(), rmw.GID{} }
func (s *subscription) shut() error                    { return s.reader.Close() }
func (s *subscription) GID() rmw.GID                   { return s.reader.GUID() }
func (s *subscription) Status() dds.Status             { return s.reader.Status() }
func (s *subscription) Close() error                   { return s.node.remove(s) }
func (s *subscription) Take(max int, f func(*dds.Sample)) (int, error) {
	return s.reader.Take(max, f)
}
