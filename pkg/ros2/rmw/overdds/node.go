package overdds

import (
	"errors"
	"fmt"
	"slices"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// node implements rmw.Node.
type node struct {
	context         *context
	namespace, name string

	// Guarded by context.mu.
	entities []entity // in the order of their creation
	closed   bool
}

// entity is a publisher, subscription, server or client.
type entity interface {
	// gids of its endpoints; zero where it has none.
	gids() (reader, writer rmw.GID)
	closeEndpoints() error
}

// info is the node's part of an announcement. The caller holds context.mu.
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

// add gives an entity to the node and announces it. On an error it closes the entity.
func (n *node) add(e entity) error {
	n.context.mu.Lock()
	defer n.context.mu.Unlock()
	if n.closed || n.context.closed {
		return errors.Join(rmw.ErrClosed, e.closeEndpoints())
	}
	n.entities = append(n.entities, e)
	if err := n.context.announce(); err != nil {
		n.entities = n.entities[:len(n.entities)-1]
		return errors.Join(err, e.closeEndpoints())
	}
	return nil
}

// remove takes an entity out of the graph and closes it, once.
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
	return errors.Join(err, e.closeEndpoints())
}

// Close takes the node and its entities out of the graph.
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
	return errors.Join(err, n.closeEntities())
}

// closeEntities closes the entities that are left.
func (n *node) closeEntities() error {
	n.context.mu.Lock()
	left := n.entities
	n.entities = nil
	n.context.mu.Unlock()
	var err error
	for _, e := range left {
		err = errors.Join(err, e.closeEndpoints())
	}
	return err
}

// userData of an endpoint: the pairs of its client or server, and its type's hash where
// the distribution announces it.
func (c *context) userData(pairs, hash string) []byte {
	if c.newer {
		pairs += hashPair(hashKey, hash)
	}
	return []byte(pairs)
}

func (n *node) NewPublisher(t rmw.Topic, q rmw.QoS, owner any) (rmw.Publisher, error) {
	if owner == nil {
		owner = &internalOwner{}
	}
	p := &publisher{node: n}
	err := n.newTopicEntity(t, q, owner, p, func(t dds.Topic, q dds.QoS) (err error) {
		p.Writer, err = n.context.participant.NewWriter(t, q, owner)
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (n *node) NewSubscription(t rmw.Topic, q rmw.QoS, owner any) (rmw.Subscription, error) {
	s := &subscription{node: n}
	err := n.newTopicEntity(t, q, owner, s, func(t dds.Topic, q dds.QoS) (err error) {
		s.Reader, err = n.context.participant.NewReader(t, q, owner)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// newTopicEntity checks the topic, opens the entity's endpoint and adds the entity.
func (n *node) newTopicEntity(t rmw.Topic, q rmw.QoS, owner any, e entity, open func(dds.Topic, dds.QoS) error) error {
	err := t.Check()
	if err != nil {
		return err
	}
	q.UserData = n.context.userData("", t.Hash)
	if owner == nil {
		err = rmw.ErrNoOwner
	} else if err = open(dds.Topic{Name: mangleTopic(t.Name), Type: mangleType(t.Type, "")}, q); err == nil {
		err = n.add(e)
	}
	if err != nil {
		return fmt.Errorf("topic %s: %w", t.Name, err)
	}
	return nil
}

type publisher struct {
	node *node
	dds.Writer
}

func (p *publisher) gids() (reader, writer rmw.GID)            { return rmw.GID{}, p.GID() }
func (p *publisher) closeEndpoints() error                     { return p.Writer.Close() }
func (p *publisher) GID() rmw.GID                              { return p.GUID() }
func (p *publisher) Publish(message []byte, stamp int64) error { return p.Write(message, stamp) }
func (p *publisher) Close() error                              { return p.node.remove(p) }

type subscription struct {
	node *node
	dds.Reader
}

func (s *subscription) gids() (reader, writer rmw.GID) { return s.GID(), rmw.GID{} }
func (s *subscription) closeEndpoints() error          { return s.Reader.Close() }
func (s *subscription) GID() rmw.GID                   { return s.GUID() }
func (s *subscription) Close() error                   { return s.node.remove(s) }
