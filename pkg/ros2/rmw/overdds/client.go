package overdds

import (
	"fmt"
	"slices"
	"sync"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// client sends requests through its writer and hears responses to all clients of
// the service, of which it passes on its own.
type client struct {
	node    *node
	service string
	writer  dds.Writer
	reader  dds.Reader
	inbox   *inbox

	sendMu   sync.Mutex // guards what follows
	sequence int64
	request  []byte
}

func (n *node) NewClient(s rmw.Service, q rmw.QoS, owner any) (rmw.Client, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if owner == nil {
		return nil, fmt.Errorf("service %s: %w", s.Name, rmw.ErrNoOwner)
	}
	c := &client{node: n, service: s.Name}
	request, reply := mangleService(s.Name)
	var err error
	c.writer, c.reader, err = n.pair(clientKey, owner, q,
		half{dds.Topic{Name: request, Type: mangleType(s.Type, requestType)}, s.RequestHash},
		half{dds.Topic{Name: reply, Type: mangleType(s.Type, responseType)}, s.ResponseHash})
	if err == nil {
		handle := c.writer.Handle()
		c.inbox = newInbox(c.reader, func(id rmw.RequestID, _ rmw.GID) bool { return id.Client == handle })
		err = n.add(c)
	}
	if err != nil {
		return nil, fmt.Errorf("client of service %s: %w", s.Name, err)
	}
	return c, nil
}

// half of a pair of endpoints.
type half struct {
	topic dds.Topic
	hash  string
}

// pair makes a service's or client's two endpoints, writer first as ROS does, with
// an id that shows others that they belong together.
func (n *node) pair(key string, owner any, q rmw.QoS, write, read half) (dds.Writer, dds.Reader, error) {
	c := n.context
	id := key + "=" + pairID(c.GID(), c.pairs.Add(1)) + ";"
	q.UserData = c.userData(id, write.hash)
	w, err := c.participant.NewWriter(write.topic, q, &inner{})
	if err != nil {
		return nil, nil, err
	}
	q.UserData = c.userData(id, read.hash)
	r, err := c.participant.NewReader(read.topic, q, &inner{owner: owner})
	if err != nil {
		w.Close()
		return nil, nil, err
	}
	return w, r, nil
}

func (c *client) gids() (reader, writer rmw.GID) { return c.reader.GUID(), c.writer.GUID() }

func (c *client) shut() error { return closeBoth(c.writer, c.reader) }

func (c *client) Close() error { return c.node.remove(c) }

// Available as rmw_service_server_is_available has it: the writer has matched a
// server's reader and the reader the same server's writer. Servers that show no
// id count when any of either matched.
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
		return 0, notCDR(c.service, request)
	}
	c.request = sample
	if err := c.writer.Write(sample, 0); err != nil {
		return 0, fmt.Errorf("service %s: %w", c.service, err)
	}
	c.sequence = id.Sequence
	return id.Sequence, nil
}

func notCDR(service string, message []byte) error {
	return fmt.Errorf("service %s: a message of %d bytes that begins with % x, expected CDR with an encapsulation "+
		"header",
		service, len(message), message[:min(len(message), 4)])
}

func (c *client) Take(max int, f func(int64, *dds.Sample)) (int, error) {
	return c.inbox.take(max, func(id rmw.RequestID, response *dds.Sample) { f(id.Sequence, response) })
}
