package overdds

import (
	"fmt"
	"slices"
	"sync"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// client is a service client. Its reader receives the responses to all clients of
// the service; the inbox passes on its own.
type client struct {
	serviceEnd

	sendMu   sync.Mutex // guards what follows
	sequence int64
	request  []byte
}

func (n *node) NewClient(s rmw.Service, q rmw.QoS, owner any) (rmw.Client, error) {
	end, err := n.newServiceEnd(s, q, owner, clientKey, requestType)
	c := &client{serviceEnd: end}
	if err == nil {
		handle := c.writer.Handle()
		c.inbox = newInbox(&c.serviceEnd, func(id rmw.RequestID, _ rmw.GID) bool { return id.Client == handle })
		err = n.add(c)
	}
	if err != nil {
		return nil, fmt.Errorf("client of service %s: %w", s.Name, err)
	}
	return c, nil
}

func (c *client) Close() error { return c.node.remove(c) }

// Available is rmw_service_server_is_available: the client's two endpoints have
// matched those of one server. A server without an id counts as soon as any of its
// endpoints matched.
func (c *client) Available() bool {
	var readers, writers []rmw.GID
	c.writer.Matched(func(g rmw.GID) { readers = append(readers, g) })
	c.reader.Matched(func(g rmw.GID) { writers = append(writers, g) })
	if len(readers) == 0 || len(writers) == 0 {
		return false
	}
	graph := c.node.context.graph
	graph.sync()
	var ids []string
	for _, g := range readers {
		if id := graph.serverOf(dds.ReaderKind, g); id != "" {
			ids = append(ids, id)
		}
	}
	return len(ids) == 0 || slices.ContainsFunc(writers, func(g rmw.GID) bool {
		return slices.Contains(ids, graph.serverOf(dds.WriterKind, g))
	})
}

func (c *client) Send(request []byte) (int64, error) {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	id := rmw.RequestID{Client: c.writer.Handle(), Sequence: c.sequence + 1}
	sample, ok := wrap(c.request[:0], id, request)
	if !ok {
		return 0, c.notCDR(request)
	}
	c.request = sample
	if err := c.writer.Write(sample, 0); err != nil {
		return 0, fmt.Errorf("service %s: %w", c.service, err)
	}
	c.sequence = id.Sequence
	return id.Sequence, nil
}

func (c *client) Take(max int, f func(int64, *dds.Sample)) (int, error) {
	return c.inbox.take(max, func(id rmw.RequestID, response *dds.Sample) { f(id.Sequence, response) })
}
