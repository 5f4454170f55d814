package overdds

import (
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// client is a service client. Its reader receives the responses to all clients of
// the service; the inbox passes on its own.
type client struct {
	serviceEnd

	handle   uint64 // in requests with a header
	made     time.Time
	sendMu   sync.Mutex // guards what follows
	sequence int64
	request  []byte
}

func (n *node) NewClient(s rmw.Service, q rmw.QoS, owner any) (rmw.Client, error) {
	end, err := n.newServiceEnd(s, q, owner, clientKey, requestType)
	c := &client{serviceEnd: end, made: time.Now()}
	if err == nil {
		c.handle = c.writer.Handle()
		if c.related() { // those of Fast DDS differ within a process alone
			c.handle = hashed(c.writer.GUID())
		}
		c.inbox = newInbox(&c.serviceEnd, answered, c.isMine)
		err = n.add(c)
	}
	if err != nil {
		return nil, fmt.Errorf("client of service %s: %w", s.Name, err)
	}
	return c, nil
}

func (c *client) Close() error { return c.node.remove(c) }

// announced is when Cyclone DDS has heard of a new writer of Fast DDS, which sends samples
// at once and its announcement from another thread. A volatile reader of Cyclone DDS drops
// what came before.
const announced = 100 * time.Millisecond

func hashed(g rmw.GID) uint64 {
	h := fnv.New64a()
	h.Write(g[:]) // never fails
	return h.Sum64()
}

// answered is the request that a response is about.
func answered(response *dds.Sample) rmw.RequestID {
	return rmw.RequestID{Endpoint: response.Related.Writer, Sequence: response.Related.Sequence}
}

// isMine says whether a response is to this client. Servers name its reader, as requests
// do, or else its writer.
func (c *client) isMine(id rmw.RequestID, _ rmw.GID) bool {
	if id.Endpoint == (rmw.GID{}) {
		return id.Client == c.handle
	}
	return id.Endpoint == c.reader.GUID() || id.Endpoint == c.writer.GUID()
}

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
	if order(request) == nil {
		return 0, c.notCDR(request)
	}
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	sequence, err := c.send(request)
	if err != nil {
		return 0, fmt.Errorf("service %s: %w", c.service, err)
	}
	return sequence, nil
}

// send sends a request; the caller holds sendMu.
func (c *client) send(request []byte) (int64, error) {
	if w, ok := c.writer.(dds.RelatedWriter); ok && c.related() && !c.servedByCyclone() {
		sequence, err := w.WriteRelated(request, dds.Identity{Writer: c.reader.GUID()})
		if err == nil {
			c.sequence = sequence
		}
		return sequence, err
	}
	if c.related() {
		time.Sleep(time.Until(c.made.Add(announced))) // once in the client's life
	}
	id := rmw.RequestID{Client: c.handle, Sequence: c.sequence + 1}
	c.request, _ = wrap(c.request[:0], id, request)
	if err := c.writer.Write(c.request, 0); err != nil {
		return 0, err
	}
	c.sequence = id.Sequence
	return id.Sequence, nil
}

// servedByCyclone says whether all servers that matched are of Cyclone DDS.
func (c *client) servedByCyclone() bool {
	cyclone, others := 0, 0
	c.writer.Matched(func(reader rmw.GID) {
		if rmw.OfCyclone(reader) {
			cyclone++
		} else {
			others++
		}
	})
	return cyclone > 0 && others == 0
}

func (c *client) Take(max int, f func(int64, *dds.Sample)) (int, error) {
	return c.inbox.takeNumbered(max, f)
}
