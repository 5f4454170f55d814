package ros

import (
	"context"
	"fmt"

	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// Client calls a service. Its methods may be called from any goroutine.
type Client[Req, Resp any] struct {
	serviceEnd
	client     rmw.Client
	request    func(*Req) cdr.Message
	response   func(*Resp) cdr.Message
	onResponse func(int64, *dds.Sample)

	taken response[Resp] // of the holder of the executor's token

	// Guarded by mu, which is held from sending a request until it is in pending.
	closed  bool
	pending map[int64]*pending[Req, Resp]
}

// NewClient makes a client of the service, whose name is expanded and remapped.
func NewClient[Req, Resp any, P Message[Req], R Message[Resp]](h Host, name string, options ...Option) (
	*Client[Req, Resp], error) {
	c := &Client[Req, Resp]{
		request:  func(m *Req) cdr.Message { return P(m) },
		response: func(m *Resp) cdr.Message { return R(m) },
		pending:  map[int64]*pending[Req, Resp]{}}
	c.onResponse = c.receive
	err := c.open(h, name, P(new(Req)).TypeName(), R(new(Resp)).TypeName(), options, c,
		func(n rmw.Node, t rmw.Service, q QoS) (err error) {
			c.client, err = n.NewClient(t, q, c)
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

// Available says whether a server of the service is matched in both directions.
func (c *Client[Req, Resp]) Available() bool { return c.client.Available() }

// WaitForService waits until the service is available or ctx is done.
func (c *Client[Req, Resp]) WaitForService(ctx context.Context) error {
	if err := c.n.context.executor.until(ctx, c.Available); err != nil {
		return fmt.Errorf("service %s is not available: %w", c.name, err)
	}
	return nil
}

// pending is a request whose response has not arrived.
type pending[Req, Resp any] struct {
	client   *Client[Req, Resp]
	response *Resp
	err      error
	done     chan struct{}      // of Call
	callback func(*Resp, error) // of Send
}

func (p *pending[Req, Resp]) run() { p.callback(p.response, p.err) }

// Call sends a request and waits for the response, or until ctx is done. It may be called
// on any goroutine, in a callback, and without any Spin.
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

// Send sends a request. The executor calls callback with the response, or with an error if
// none has come when the client is closed.
func (c *Client[Req, Resp]) Send(request *Req, callback func(*Resp, error)) error {
	_, err := c.send(request, &pending[Req, Resp]{client: c, callback: callback})
	return err
}

func (c *Client[Req, Resp]) send(request *Req, p *pending[Req, Resp]) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, c.errorf(rmw.ErrClosed)
	}
	data, err := c.encode(c.request(request))
	if err != nil {
		return 0, c.errorf(err)
	}
	sequence, err := c.client.Send(data)
	if err != nil {
		return 0, c.errorf(err)
	}
	c.pending[sequence] = p
	return sequence, nil
}

// take takes one response. A Call gets it at once; for Send it returns a job.
func (c *Client[Req, Resp]) take() job {
	for {
		n, err := c.client.Take(1, c.onResponse)
		if err != nil || n == 0 {
			c.warn("taking a response", err)
			return nil
		}
		if p := c.deliver(); p != nil {
			return p
		}
	}
}

// receive is called by the middleware's Take. It takes no lock: Send holds mu.
func (c *Client[Req, Resp]) receive(sequence int64, sample *dds.Sample) {
	m := new(Resp)
	c.taken = response[Resp]{sequence: sequence, message: m}
	if err := cdr.Unmarshal(sample.Data, c.response(m)); err != nil {
		c.taken.message, c.taken.err = nil, fmt.Errorf("service %s: response: %w", c.name, err)
	}
}

// deliver gives the taken response to the Call that waits for it, if there is one, or
// returns the job of Send's callback.
func (c *Client[Req, Resp]) deliver() job {
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

func (c *Client[Req, Resp]) queueAll() { c.queueEach(c.take) }

// Close ends the client and the calls that wait for a response.
func (c *Client[Req, Resp]) Close() error {
	c.n.removeCloser(c)
	c.mu.Lock()
	c.closed = true
	left := c.pending
	c.pending = nil
	c.mu.Unlock()
	for _, p := range left {
		p.err = c.errorf(rmw.ErrClosed)
		if p.done != nil {
			close(p.done)
		} else {
			c.group.push(p)
		}
	}
	return c.client.Close()
}
