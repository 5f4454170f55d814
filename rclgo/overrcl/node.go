package overrcl

/*
#include "rcl.h"
*/
import "C"

import (
	"errors"
	"slices"
	"sync"

	"github.com/tiiuae/rclgo/pkg/rclgo"

	"vnd/pkg/ros2/rmw"
)

// node is a node's place in the graph.
type node struct {
	context         *context
	namespace, name string
	rcl             *rclgo.Node
	handle          *C.rcl_node_t

	// Guarded by context.mu.
	entities []entity // in the order that they were made
	closed   bool
}

// entity is a publisher, subscription, server or client.
type entity interface {
	// entries appends what to wait for.
	entries([]C.struct_vnd_entry, []target) ([]C.struct_vnd_entry, []target)
	// keep stops everybody from using the entity, and returns what lets them go on.
	lock() (unlock func())
	// end ends it; nobody uses it or waits for it.
	end() error
}

// endpoint is a publisher or a subscription.
type endpoint interface {
	entity
	GID() rmw.GID
	// look compares matches with those of the last look, and returns the owner if he is to be told. The caller holds
	// context.mu.
	look() (owner any)
}

// newEntity makes an entity of the node.
func (n *node) newEntity(f func() (entity, error)) error {
	return n.context.make(func() error {
		if n.closed {
			return rmw.ErrClosed
		}
		e, err := f()
		if err != nil {
			return err
		}
		n.entities = append(n.entities, e)
		return nil
	})
}

// remove ends an entity, once.
func (n *node) remove(e entity) error {
	defer e.lock()()
	return n.context.exclude(func() error {
		i := slices.Index(n.entities, e)
		if i < 0 {
			return nil
		}
		n.entities = slices.Delete(n.entities, i, i+1)
		return e.end()
	})
}

func (n *node) endpoints() []endpoint {
	n.context.mu.Lock()
	defer n.context.mu.Unlock()
	var all []endpoint
	for _, e := range n.entities {
		if p, ok := e.(endpoint); ok {
			all = append(all, p)
		}
	}
	return all
}

// Close takes the node and what is left of its entities out of the graph.
func (n *node) Close() error {
	c := n.context
	c.mu.Lock()
	closed, left := n.closed, slices.Clone(n.entities)
	n.closed = true
	c.mu.Unlock()
	if closed {
		return nil
	}
	var err error
	for _, e := range left {
		err = errors.Join(err, n.remove(e))
	}
	return errors.Join(err, c.exclude(func() (err error) {
		c.nodes = slices.DeleteFunc(c.nodes, func(other *node) bool { return other == n })
		if len(c.nodes) == 0 && !c.closed {
			err = c.beginLooker()
		}
		return errors.Join(err, ended(n.rcl.Close()))
	}))
}

// gate keeps users of an entity and its end apart.
type gate struct {
	mu     sync.RWMutex
	closed bool
}

// enter lets one of many in; leave follows.
func (g *gate) enter() error {
	g.mu.RLock()
	if g.closed {
		g.mu.RUnlock()
		return rmw.ErrClosed
	}
	return nil
}

func (g *gate) leave() { g.mu.RUnlock() }

// alone lets one in while nobody else is; leaveAlone follows.
func (g *gate) alone() error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return rmw.ErrClosed
	}
	return nil
}

func (g *gate) leaveAlone() { g.mu.Unlock() }

func (g *gate) lock() (unlock func()) {
	g.mu.Lock()
	g.closed = true
	return g.mu.Unlock
}
