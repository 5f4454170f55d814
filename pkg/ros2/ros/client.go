package ros

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// Client calls a service. Its methods may be called from any goroutine.
type Client[Req, Resp any] struct {
	n          *Node
	name       string
	typeName   string
	client     rmw.Client
	group      *Group
	request    func(*Req) cdr.Message
	response   func(*Resp) cdr.Message
	onResponse func(int64, *dds.Sample)
	complaint  throttle

	taken response[Resp] // of the holder of the executor's token

	mu      sync.Mutex // also orders a request before its response
	closed  bool
	pending map[int64]*pending[Req, Resp]
	buffer  []byte
}

// NewClient makes a client of the service, whose name is expanded and remapped.
func NewClient[Req, Resp any, P Message[Req], R Message[Resp]](h Host, name string, options ...Option) (
	*Client[Req, Resp], error) {
	n := h.node()
	o := n.settle(options)
	c := &Client[Req, Resp]{n: n, group: o.group,
		request:  func(m *Req) cdr.Message { return P(m) },
		response: func(m *Resp) cdr.Message { return R(m) },
		pending:  map[int64]*pending[Req, Resp]{}}
	c.onResponse = c.receive
	t, err := n.serviceType(name, P(new(Req)).TypeName(), R(new(Resp)).TypeName())
	if err != nil {
		return nil, err
	}
	c.name, c.typeName = t.Name, t.Type
	err = n.make(c, func() error {
		c.client, err = n.middleware.NewClient(t, o.serviceQoS(), c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

type response[Resp any] struct {
	sequence int64
	message  *Resp
	err      error
}

// Name is the service's full name.
func (c *Client[Req, Resp]) Name() string { return c.name }

// Available says whether a server of the service would hear a request and be
// heard.
func (c *Client[Req, Resp]) Available() bool { return c.client.Available() }

// WaitForService waits until the service is available or ctx is done.
func (c *Client[Req, Resp]) WaitForService(ctx context.Context) error {
	if err := c.n.context.executor.until(ctx, c.Available); err != nil {
		return fmt.Errorf("service %s is not available: %w", c.name, err)
	}
	return nil
}

// pending is a request without a response so far.
type pending[Req, Resp any] struct {
	client   *Client[Req, Resp]
	response *Resp
	err      error
	done     chan struct{}      // of Call
	callback func(*Resp, error) // of Send
}

func (p *pending[Req, Resp]) run() { p.callback(p.response, p.err) }

// Call sends a request and waits for the response or until ctx is done. It may
// be called anywhere: on any goroutine, in a callback, and without any Spin.
func (c *Client[Req, Resp]) Call(ctx context.Context, request *Req) (*Resp, error) {
	p := &pending[Req, Resp]{client: c, done: make(chan struct{})}
	sequence, err := c.send(request, p)
	if err != nil {
		return nil, err
	}
	if err := c.n.context.executor.await(ctx, p.done, -1); err != nil {
		c.mu.Lock()
		delete(c.pending, sequence)
		c.mu.Unlock()
		return nil, fmt.Errorf("service %s: no response: %w", c.name, err)
	}
	return p.response, p.err
}

// Send sends a request; callback gets the response, on the executor. Where none
// ever comes, callback is called with an error when the client is closed.
func (c *Client[Req, Resp]) Send(request *Req, callback func(*Resp, error)) error {
	_, err := c.send(request, &pending[Req, Resp]{client: c, callback: callback})
	return err
}

func (c *Client[Req, Resp]) send(request *Req, p *pending[Req, Resp]) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, fmt.Errorf("service %s: %w", c.name, rmw.ErrClosed)
	}
	data, err := cdr.Append(c.buffer[:0], cdr.LittleEndian, c.request(request))
	if err != nil {
		return 0, fmt.Errorf("service %s: %w", c.name, err)
	}
	c.buffer = data
	sequence, err := c.client.Send(data)
	if err != nil {
		return 0, fmt.Errorf("service %s: %w", c.name, err)
	}
	c.pending[sequence] = p
	return sequence, nil
}

// take takes one response. A Call is told at once; Send's callback is the job.
func (c *Client[Req, Resp]) take() job {
	for {
		n, err := c.client.Take(1, c.onResponse)
		if err != nil && !errors.Is(err, rmw.ErrClosed) {
			c.complaint.log(&c.n.log, "service '%s': taking a response: %v", c.name, err)
		}
		if err != nil || n == 0 {
			return nil
		}
		if p := c.answered(); p != nil {
			return p
		}
	}
}

// receive runs inside the middleware, and so takes no lock that Send holds.
func (c *Client[Req, Resp]) receive(sequence int64, sample *dds.Sample) {
	m := new(Resp)
	c.taken = response[Resp]{sequence: sequence, message: m}
	if err := cdr.Unmarshal(sample.Data, c.response(m)); err != nil {
		c.taken.message, c.taken.err = nil, fmt.Errorf("service %s: response: %w", c.name, err)
	}
}

// answered brings what was taken to the Call that waits for it, if one still
// does, or returns it for Send's callback.
func (c *Client[Req, Resp]) answered() job {
	c.mu.Lock()
	p := c.pending[c.taken.sequence]
	delete(c.pending, c.taken.sequence)
	c.mu.Unlock()
	if p == nil {
		return nil
	}
	p.response, p.err = c.taken.message, c.taken.err
	if p.done == nil {
		return p
	}
	close(p.done)
	return nil
}

func (c *Client[Req, Resp]) fill() {
	for j := c.take(); j != nil; j = c.take() {
		c.group.push(j)
	}
}

func (c *Client[Req, Resp]) news() {}

func (c *Client[Req, Resp]) rosType() string { return c.typeName }

// Close ends the client and what waits for its responses.
func (c *Client[Req, Resp]) Close() error {
	c.n.disown(c)
	c.mu.Lock()
	c.closed = true
	left := c.pending
	c.pending = nil
	c.mu.Unlock()
	for _, p := range left {
		p.err = fmt.Errorf("service %s: %w", c.name, rmw.ErrClosed)
		if p.done != nil {
			close(p.done)
		} else {
			c.group.push(p)
		}
	}
	return c.client.Close()
}
