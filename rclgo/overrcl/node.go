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

// node implements rmw.Node.
type node struct {
	context         *context
	namespace, name string
	rcl             *rclgo.Node
	handle          *C.rcl_node_t

	// Guarded by context.mu.
	entities []entity // in the order of their creation
	closed   bool
}

// entity is a publisher, subscription, server or client.
type entity interface {
	// entries appends the entity's entries of the wait set, with their targets.
	entries([]C.struct_vnd_entry, []target) ([]C.struct_vnd_entry, []target)
	// lock excludes all users of the entity, until unlock.
	lock() (unlock func())
	// end ends the entity. No goroutine uses it or waits for it.
	end() error
}

// endpoint is a publisher or a subscription.
type endpoint interface {
	entity
	GID() rmw.GID
	// checkMatches returns the owner if the number of matches changed and there is an owner.
	// The caller holds context.mu.
	checkMatches() (owner any)
}

// newEntity adds the entity that f makes.
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

// Close takes the node and its entities out of the graph.
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
			err = c.openGraphNode()
		}
		return errors.Join(err, closeError(n.rcl.Close()))
	}))
}

// closeGuard keeps an entity from being closed while it is used.
type closeGuard struct {
	mu     sync.RWMutex
	closed bool
}

// enter begins a use beside others; leave ends it.
func (g *closeGuard) enter() error {
	g.mu.RLock()
	if g.closed {
		g.mu.RUnlock()
		return rmw.ErrClosed
	}
	return nil
}

func (g *closeGuard) leave() { g.mu.RUnlock() }

// lockAll begins an exclusive use; unlockAll ends it.
func (g *closeGuard) lockAll() error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return rmw.ErrClosed
	}
	return nil
}

func (g *closeGuard) unlockAll() { g.mu.Unlock() }

func (g *closeGuard) lock() (unlock func()) {
	g.mu.Lock()
	g.closed = true
	return g.mu.Unlock
}
