package overrcl

/*
#include <stdlib.h>
#include "rcl.h"
*/
import "C"

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/tiiuae/rclgo/pkg/rclgo"

	"vnd/pkg/ros2/rmw"
)

// graph implements rmw.Graph. It queries rcl, which needs a node, at each call.
type graph struct {
	context *context
}

// The graph node is a hidden node, as the daemon of ROS' command line has one. A process
// without nodes gets one when it queries the graph, and when its last node closes. Without
// it the participant would end together with the last node. Other processes may discover
// that end before the last announcement, and then keep the node for ever. The graph node
// closes when there is a node again. No graph here lists it.
const graphNodePrefix = "_vnd_graph_"

func (c *context) openGraphNode() error {
	l, err := c.rcl.NewNode(fmt.Sprint(graphNodePrefix, os.Getpid()), "/")
	if err != nil {
		return errorOf(err)
	}
	c.graphNode, c.stale = l, true
	return nil
}

// graphSource is a node whose guard condition reports changes of the graph; nil without one.
func (c *context) graphSource() *C.rcl_node_t {
	switch {
	case len(c.nodes) > 0:
		return c.nodes[0].handle
	case c.graphNode != nil:
		return (*C.rcl_node_t)(nodeHandle.of(c.graphNode))
	}
	return nil
}

// closeGraphNode must be called by exclude.
func (c *context) closeGraphNode() error {
	if c.graphNode == nil {
		return nil
	}
	l := c.graphNode
	c.graphNode = nil
	return closeError(l.Close())
}

// ask calls f with a node to query. f must leave its results empty on an error.
func (g *graph) ask(f func(*rclgo.Node) error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c := g.context
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return rmw.ErrClosed
	case len(c.nodes) > 0:
		return f(c.nodes[0].rcl)
	case c.graphNode == nil:
		if err := c.openGraphNode(); err != nil {
			return err
		}
		c.interrupt()
	}
	return f(c.graphNode)
}

// Nodes lists all nodes, also several of one name.
func (g *graph) Nodes() []rmw.NodeName {
	var nodes []rmw.NodeName
	_ = g.ask(func(n *rclgo.Node) (err error) {
		nodes, err = allNodes((*C.rcl_node_t)(nodeHandle.of(n)))
		return err
	})
	nodes = slices.DeleteFunc(nodes, func(n rmw.NodeName) bool { return strings.HasPrefix(n.Name, graphNodePrefix) })
	slices.SortFunc(nodes, func(a, b rmw.NodeName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Enclave, b.Enclave))
	})
	return nodes
}

// allNodes lists the nodes with their enclaves, which rclgo leaves out.
func allNodes(n *C.rcl_node_t) ([]rmw.NodeName, error) {
	var names, namespaces, enclaves C.rcutils_string_array_t
	defer C.vnd_strings_free(&names, &namespaces, &enclaves)
	if failed := C.vnd_nodes(n, &names, &namespaces, &enclaves); failed != nil {
		return nil, failure(failed)
	}
	nodes := make([]rmw.NodeName, names.size)
	for i := range nodes {
		nodes[i] = rmw.NodeName{Namespace: element(&namespaces, i), Name: element(&names, i),
			Enclave: element(&enclaves, i)}
	}
	return nodes, nil
}

func element(a *C.rcutils_string_array_t, i int) string {
	if i >= int(a.size) {
		return ""
	}
	return C.GoString(unsafe.Slice(a.data, int(a.size))[i])
}

// Topics maps names to types.
func (g *graph) Topics() map[string][]string {
	return g.names(func(n *rclgo.Node) (map[string][]string, error) { return n.GetTopicNamesAndTypes(true) })
}

// Services maps names to types.
func (g *graph) Services() map[string][]string {
	return g.names(func(n *rclgo.Node) (map[string][]string, error) {
		return services((*C.rcl_node_t)(nodeHandle.of(n)))
	})
}

func (g *graph) names(f func(*rclgo.Node) (map[string][]string, error)) map[string][]string {
	found := map[string][]string{}
	_ = g.ask(func(n *rclgo.Node) error {
		names, err := f(n)
		if err != nil {
			return errorOf(err)
		}
		found = names
		return nil
	})
	for _, types := range found {
		slices.Sort(types)
	}
	return found
}

// services lists the services of all nodes, which rclgo does not.
func services(n *C.rcl_node_t) (map[string][]string, error) {
	var all C.rcl_names_and_types_t
	defer C.vnd_names_free(&all)
	if failed := C.vnd_services(n, &all); failed != nil {
		return nil, failure(failed)
	}
	found := map[string][]string{}
	for i := range int(all.names.size) {
		types := &unsafe.Slice(all.types, int(all.names.size))[i]
		for j := range int(types.size) {
			name := element(&all.names, i)
			found[name] = append(found[name], element(types, j))
		}
	}
	return found, nil
}

// Publishers of a topic.
func (g *graph) Publishers(topic string) []rmw.Endpoint {
	return g.endpoints(topic, (*rclgo.Node).GetPublishersInfoByTopic)
}

// Subscriptions of a topic.
func (g *graph) Subscriptions(topic string) []rmw.Endpoint {
	return g.endpoints(topic, (*rclgo.Node).GetSubscriptionsInfoByTopic)
}

func (g *graph) endpoints(topic string, f func(*rclgo.Node, string, bool) ([]rclgo.TopicEndpointInfo,
	error)) []rmw.Endpoint {
	var infos []rclgo.TopicEndpointInfo
	var nodes []rmw.NodeName
	err := g.ask(func(n *rclgo.Node) (err error) {
		if infos, err = f(n, topic, true); err != nil {
			return errorOf(err)
		}
		nodes, err = allNodes((*C.rcl_node_t)(nodeHandle.of(n)))
		return err
	})
	if err != nil {
		return nil
	}
	var found []rmw.Endpoint
	for _, x := range infos {
		e := rmw.Endpoint{Node: rmw.NodeName{Namespace: x.NodeNamespace, Name: x.NodeName}, Type: x.TopicType,
			QoS: qosOf(x.QosProfile)}
		copy(e.GID[:], x.EndpointGID[:])
		e.Node.Enclave = enclaveOf(nodes, e.Node)
		found = append(found, e)
	}
	slices.SortFunc(found, func(a, b rmw.Endpoint) int { return bytes.Compare(a.GID[:], b.GID[:]) })
	return found
}

// enclaveOf returns a node's enclave, the first one's if several nodes have the name. rcl does
// not tell the enclaves of endpoints.
func enclaveOf(nodes []rmw.NodeName, n rmw.NodeName) string {
	for _, other := range nodes {
		if other.Namespace == n.Namespace && other.Name == n.Name {
			return other.Enclave
		}
	}
	return ""
}

// Pending implements rmw.Graph: rcl does not tell.
func (*graph) Pending() int { return 0 }

// Of implements rmw.Graph.
func (g *graph) Of(name rmw.NodeName) (rmw.NodeGraph, error) {
	of := rmw.NodeGraph{}
	err := g.ask(func(n *rclgo.Node) (err error) {
		lists := []struct {
			into *map[string][]string
			list func() (map[string][]string, error)
		}{
			{&of.Publishers, func() (map[string][]string, error) {
				return n.GetPublisherNamesAndTypesByNode(true, name.Name, name.Namespace)
			}},
			{&of.Subscriptions, func() (map[string][]string, error) {
				return n.GetSubscriberNamesAndTypesByNode(true, name.Name, name.Namespace)
			}},
			{&of.Servers, func() (map[string][]string, error) {
				return n.GetServiceNamesAndTypesByNode(name.Name,
					name.Namespace)
			}},
			{&of.Clients, func() (map[string][]string, error) {
				return n.GetClientNamesAndTypesByNode(name.Name,
					name.Namespace)
			}},
		}
		for _, l := range lists {
			if *l.into, err = l.list(); err != nil {
				if noNode := new(rclgo.NodeNameNonExistent); errors.As(err, &noNode) {
					err = rmw.ErrNoNode
				}
				C.vnd_forget_error()
				return err
			}
		}
		return nil
	})
	if err != nil {
		return rmw.NodeGraph{}, err
	}
	for _, m := range []map[string][]string{of.Publishers, of.Subscriptions, of.Servers, of.Clients} {
		for _, types := range m {
			slices.Sort(types)
		}
	}
	return of, nil
}

// prefixSize is the size of the participant's prefix in a GUID.
const prefixSize = 12

// gidTimeout is how long an endpoint may take to appear in its own graph.
const gidTimeout = time.Second

// gid of an endpoint, which rcl shows only in the graph. It is the endpoint there of this
// node and topic that no other endpoint of the process has claimed. It is zero where
// several processes have such endpoints in nodes of this name.
func (r *topicEnd) gid(list func(topic string) []rmw.Endpoint) rmw.GID {
	r.mu.Lock()
	known := r.known
	r.mu.Unlock()
	for end := time.Now().Add(gidTimeout); known == (rmw.GID{}) && time.Now().Before(end); {
		mine := slices.DeleteFunc(list(r.topic), func(e rmw.Endpoint) bool {
			return e.Node.Namespace != r.node.namespace || e.Node.Name != r.node.name
		})
		if known = r.node.context.claim(r, mine); known == (rmw.GID{}) {
			if len(mine) > 0 || r.node.context.isClosed() {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	return known
}

func (c *context) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// claim gives an endpoint the first GID that no other endpoint here has, if all GIDs are of
// one process.
func (c *context) claim(r *topicEnd, of []rmw.Endpoint) rmw.GID {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := map[rmw.GID]bool{}
	for _, n := range c.nodes {
		for _, e := range n.entities {
			if p, ok := e.(interface{ claimed() rmw.GID }); ok {
				taken[p.claimed()] = true
			}
		}
	}
	for _, e := range of {
		if !bytes.Equal(e.GID[:prefixSize], of[0].GID[:prefixSize]) {
			return rmw.GID{}
		}
		if !taken[e.GID] {
			r.mu.Lock()
			r.known = e.GID
			r.mu.Unlock()
			return e.GID
		}
	}
	return rmw.GID{}
}

func (r *topicEnd) claimed() rmw.GID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known
}
