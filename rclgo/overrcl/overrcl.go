// Package overrcl is a ROS 2 middleware over rcl, for every RMW_IMPLEMENTATION. rclgo makes
// contexts, nodes and endpoints and looks up the types of messages. This package adds the
// functions that rclgo lacks: waiting for a changing set of entities, events, services as
// CDR, and messages without allocations.
package overrcl

/*
#cgo LDFLAGS: -lrcl -lrmw -lrcutils -lrmw_implementation -ldl
#include <stdlib.h>
#include "rcl.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/tiiuae/rclgo/pkg/rclgo"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// Options of a Context.
type Options struct {
	// Enclave of the process; "" is "/".
	Enclave string
	// Domain replaces ROS_DOMAIN_ID unless it is 0.
	Domain uint
}

// context is an rcl context. rcl forbids to end an entity that a wait includes, and to make
// two entities of a node at once. Both hold mu, and ending waits until rcl_wait has
// returned.
type context struct {
	rcl    *rclgo.Context
	handle *C.rcl_context_t
	set    *C.rcl_wait_set_t // of Wait

	wakeMu sync.RWMutex             // held while guard is used or ended
	guard  *C.rcl_guard_condition_t // nil once closed
	woken  atomic.Bool              // Wake was called and no Wait has returned for it yet

	mu        sync.Mutex // guards what follows
	left      *sync.Cond // rcl_wait or exclude has returned
	waiting   bool       // a goroutine is in rcl_wait
	excluders int        // number of goroutines in exclude
	closed    bool
	nodes     []*node
	graphNode *rclgo.Node // see graph
	graph     graph
	entries   []C.struct_vnd_entry
	targets   []target // of the entries
	stale     bool     // entries differ from those of the nodes
	matchPoll matchPoll
}

// Open joins the graph as the environment says: ROS_DOMAIN_ID, RMW_IMPLEMENTATION and what that one reads itself.
func Open(o Options) (rmw.Context, error) {
	if err := environment(); err != nil {
		return nil, err
	}
	runtime.LockOSThread() // rcl keeps the text of an error for the thread
	defer runtime.UnlockOSThread()
	c := &context{stale: true}
	c.left = sync.NewCond(&c.mu)
	c.graph.context = c
	if err := c.open(o); err != nil {
		return nil, fmt.Errorf("joining the ROS graph through rcl: %w", err)
	}
	return c, nil
}

func (c *context) open(o Options) error {
	words := []string{"--ros-args", "--disable-rosout-logs", "--disable-external-lib-logs"} // package ros logs itself
	if o.Enclave != "" && o.Enclave != "/" {
		words = append(words, "--enclave", o.Enclave)
	}
	args, _, err := rclgo.ParseArgs(words)
	if err != nil {
		return errorOf(err)
	}
	options := rclgo.NewDefaultContextOptions()
	if o.Domain != 0 {
		options.DomainID = o.Domain
	}
	if c.rcl, err = rclgo.NewContextWithOpts(args, options); err != nil {
		return errorOf(err)
	}
	c.handle = (*C.rcl_context_t)(contextHandle.of(c.rcl))
	err = failure(C.vnd_guard_new(c.handle, &c.guard))
	if err == nil {
		err = failure(C.vnd_set_new(c.handle, &c.set))
	}
	if err != nil {
		err = errors.Join(err, c.rcl.Close())
	}
	return err
}

// failure is the error of a function in C, whose text it frees.
func failure(text *C.char) error {
	if text == nil {
		return nil
	}
	defer C.free(unsafe.Pointer(text))
	return errors.New(oneLine(C.GoString(text)))
}

// errorOf is an error of rclgo in one line. The caller is locked to its thread.
func errorOf(err error) error {
	C.vnd_forget_error()
	return errors.New(oneLine(err.Error()))
}

// exclude calls f while no goroutine is in rcl_wait.
func (c *context) exclude(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.excluders++
	for c.waiting {
		c.interrupt()
		c.left.Wait()
	}
	c.excluders--
	defer c.left.Broadcast()
	c.stale = true
	return f()
}

// make calls f, which makes an entity. It ends a wait under way, so that the next includes it.
func (c *context) make(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return rmw.ErrClosed
	}
	if err := f(); err != nil {
		return err
	}
	c.stale = true
	c.matchPoll.begin(time.Now())
	c.interrupt()
	return nil
}

// interrupt ends the rcl_wait under way, or the next one.
func (c *context) interrupt() {
	c.wakeMu.RLock()
	defer c.wakeMu.RUnlock()
	if c.guard != nil {
		C.vnd_wake(c.guard)
	}
}

func (c *context) Wake() {
	c.woken.Store(true)
	c.interrupt()
}

func (c *context) Graph() rmw.Graph { return &c.graph }

// GID is derived from those of the process' endpoints, as rcl has none for the process. It is
// zero before the first endpoint.
func (c *context) GID() rmw.GID {
	c.mu.Lock()
	nodes := slices.Clone(c.nodes)
	c.mu.Unlock()
	for _, n := range nodes {
		for _, e := range n.endpoints() {
			if gid := e.GID(); gid != (rmw.GID{}) {
				copy(gid[prefixSize:], []byte{0, 0, 1, 0xc1}) // ENTITYID_PARTICIPANT (RTPS 2.5, §9.3.1.3)
				return gid
			}
		}
	}
	return rmw.GID{}
}

// NewNode makes a node. A context without nodes is not in the graph.
func (c *context) NewNode(namespace, name string) (rmw.Node, error) {
	if namespace == "" || namespace[0] != '/' || name == "" {
		return nil, fmt.Errorf("node %q in namespace %q: expected a name, and a namespace that begins with /", name,
			namespace)
	}
	n := &node{context: c, namespace: namespace, name: name}
	err := c.make(func() (err error) {
		if n.rcl, err = c.rcl.NewNode(name, namespace); err != nil {
			return fmt.Errorf("node %q in namespace %q: %w", name, namespace, errorOf(err))
		}
		n.handle = (*C.rcl_node_t)(nodeHandle.of(n.rcl))
		c.nodes = append(c.nodes, n)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return n, c.exclude(c.closeGraphNode)
}

// Close takes all nodes out of the graph, then the process.
func (c *context) Close() error {
	c.mu.Lock()
	closed, nodes := c.closed, slices.Clone(c.nodes)
	c.closed = true
	c.mu.Unlock()
	if closed {
		return nil
	}
	var err error
	for _, n := range nodes {
		err = errors.Join(err, n.Close())
	}
	return errors.Join(err, c.exclude(c.end))
}

func (c *context) end() error {
	err := c.closeGraphNode()
	c.wakeMu.Lock()
	C.vnd_guard_free(c.guard)
	c.guard = nil
	c.wakeMu.Unlock()
	C.vnd_set_free(c.set)
	if e := c.rcl.Close(); e != nil {
		err = errors.Join(err, errorOf(e))
	}
	return err
}

// sampleOf is a message taken in C, as a sample of package dds.
func sampleOf(m *C.struct_vnd_message, data []byte) dds.Sample {
	return dds.Sample{Data: data, Source: int64(m.source), Received: int64(m.received)}
}

// bytesOf are the bytes of a message in C, without a copy.
func bytesOf(m *C.struct_vnd_message) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(m.bytes.buffer)), int(m.bytes.buffer_length))
}
