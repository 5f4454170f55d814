package overrcl

/*
#include "rcl.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/tiiuae/rclgo/pkg/rclgo"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// call is the common part of servers and clients. They exchange one message at a time.
type call struct {
	closeGuard
	node      *node
	service   string
	owner     any
	exchange  *C.struct_vnd_exchange
	takeCalls takeCalls
}

// prepareCall checks a service and looks up its type.
func (n *node) prepareCall(s rmw.Service, q rmw.QoS, owner any) (*serviceType, rclgo.QosProfile, error) {
	err := s.Check()
	if err == nil && owner == nil {
		err = fmt.Errorf("service %s: %w", s.Name, rmw.ErrNoOwner)
	}
	if err == nil {
		err = q.Check(dds.Topic{Name: s.Name, Type: s.Type})
	}
	if err != nil {
		return nil, rclgo.QosProfile{}, err
	}
	t, err := newServiceType(s.Type)
	if err != nil {
		return nil, rclgo.QosProfile{}, fmt.Errorf("service %s: %w", s.Name, err)
	}
	return t, profileOf(q), nil
}

func (c *call) errorf(err error) error { return fmt.Errorf("service %s: %w", c.service, err) }

type server struct {
	call
	rcl     *rclgo.Service
	handle  *C.rcl_service_t
	clients clients
}

// NewServer makes a server whose type is looked up in the workspace.
func (n *node) NewServer(s rmw.Service, q rmw.QoS, owner any) (rmw.Server, error) {
	t, profile, err := n.prepareCall(s, q, owner)
	if err != nil {
		return nil, err
	}
	v := &server{call: call{node: n, service: s.Name, owner: owner}}
	err = n.newEntity(func() (entity, error) {
		if v.rcl, err = n.rcl.NewService(s.Name, t, &rclgo.ServiceOptions{Qos: profile}, nil); err != nil {
			return nil, errorOf(err)
		}
		v.handle = (*C.rcl_service_t)(serviceHandle.of(v.rcl))
		v.exchange = t.exchange(t.request, t.response)
		return v, nil
	})
	if err != nil {
		return nil, fmt.Errorf("server of service %s: %w", s.Name, err)
	}
	return v, nil
}

func (s *server) Take(max int, f func(rmw.RequestID, *dds.Sample)) (int, error) {
	v := s.takeCalls.get()
	defer s.takeCalls.put(v)
	for taken := 0; taken < max; taken++ {
		id, more, err := s.take(v)
		if err != nil || !more {
			return taken, err
		}
		f(id, &v.sample)
	}
	return max, nil
}

func (s *server) take(v *takeCall) (id rmw.RequestID, more bool, err error) {
	if err := s.lockAll(); err != nil {
		return id, false, s.errorf(err)
	}
	defer s.unlockAll()
	if failed := C.vnd_take_request(s.handle, s.exchange); failed != nil {
		return id, false, s.errorf(failure(failed))
	}
	if !v.take(&s.exchange.message) {
		return id, false, nil
	}
	return rmw.RequestID{Client: s.clients.handle(s.exchange.client), Sequence: int64(s.exchange.sequence)}, true, nil
}

// Respond sends a response; the middleware drops it if the client is gone.
func (s *server) Respond(id rmw.RequestID, response []byte) error {
	if err := s.lockAll(); err != nil {
		return s.errorf(err)
	}
	defer s.unlockAll()
	client, known := s.clients.of(id.Client)
	if !known {
		return nil // unknown, or removed
	}
	failed := C.vnd_respond(s.handle, s.exchange, &client[0], C.int64_t(id.Sequence),
		unsafe.Pointer(unsafe.SliceData(response)), C.size_t(len(response)))
	if failed != nil {
		return s.errorf(failure(failed))
	}
	return nil
}

func (s *server) Close() error { return s.node.remove(s) }

func (s *server) entries(e []C.struct_vnd_entry, t []target) ([]C.struct_vnd_entry, []target) {
	return append(e, entry(C.vnd_service, unsafe.Pointer(s.handle))), append(t, target{owner: s.owner})
}

func (s *server) end() error {
	endExchange(s.exchange)
	return closeError(s.rcl.Close())
}

// clients numbers the clients that sent requests: rcl identifies them by 16 bytes.
type clients struct {
	newest uint64
	known  map[uint64][16]C.int8_t
	number map[[16]C.int8_t]uint64
}

// maxClients bounds the memory that clients which come and go can take. The oldest are removed
// first.
const maxClients = 4096

func (c *clients) handle(client [16]C.int8_t) uint64 {
	if n, ok := c.number[client]; ok {
		return n
	}
	if c.known == nil {
		c.known, c.number = map[uint64][16]C.int8_t{}, map[[16]C.int8_t]uint64{}
	}
	c.newest++
	c.known[c.newest], c.number[client] = client, c.newest
	if old := c.newest - maxClients; c.newest > maxClients {
		delete(c.number, c.known[old])
		delete(c.known, old)
	}
	return c.newest
}

func (c *clients) of(handle uint64) ([16]C.int8_t, bool) {
	client, ok := c.known[handle]
	return client, ok
}

type client struct {
	call
	rcl    *rclgo.Client
	handle *C.rcl_client_t
}

// NewClient makes a client whose type is looked up in the workspace.
func (n *node) NewClient(s rmw.Service, q rmw.QoS, owner any) (rmw.Client, error) {
	t, profile, err := n.prepareCall(s, q, owner)
	if err != nil {
		return nil, err
	}
	c := &client{call: call{node: n, service: s.Name, owner: owner}}
	err = n.newEntity(func() (entity, error) {
		if c.rcl, err = n.rcl.NewClient(s.Name, t, &rclgo.ClientOptions{Qos: profile}); err != nil {
			return nil, errorOf(err)
		}
		c.handle = (*C.rcl_client_t)(clientHandle.of(c.rcl))
		c.exchange = t.exchange(t.response, t.request)
		return c, nil
	})
	if err != nil {
		return nil, fmt.Errorf("client of service %s: %w", s.Name, err)
	}
	return c, nil
}

func (c *client) Available() bool {
	if c.enter() != nil {
		return false
	}
	defer c.leave()
	return C.vnd_available(c.node.handle, c.handle) != 0
}

func (c *client) Send(request []byte) (int64, error) {
	if err := c.lockAll(); err != nil {
		return 0, c.errorf(err)
	}
	defer c.unlockAll()
	failed := C.vnd_request(c.handle, c.exchange, unsafe.Pointer(unsafe.SliceData(request)), C.size_t(len(request)))
	if failed != nil {
		return 0, c.errorf(failure(failed))
	}
	return int64(c.exchange.sent), nil
}

func (c *client) Take(max int, f func(int64, *dds.Sample)) (int, error) {
	v := c.takeCalls.get()
	defer c.takeCalls.put(v)
	for taken := 0; taken < max; taken++ {
		sequence, more, err := c.take(v)
		if err != nil || !more {
			return taken, err
		}
		f(sequence, &v.sample)
	}
	return max, nil
}

func (c *client) take(v *takeCall) (sequence int64, more bool, err error) {
	if err := c.lockAll(); err != nil {
		return 0, false, c.errorf(err)
	}
	defer c.unlockAll()
	if failed := C.vnd_take_response(c.handle, c.exchange); failed != nil {
		return 0, false, c.errorf(failure(failed))
	}
	return int64(c.exchange.sequence), v.take(&c.exchange.message), nil
}

func (c *client) Close() error { return c.node.remove(c) }

func (c *client) entries(e []C.struct_vnd_entry, t []target) ([]C.struct_vnd_entry, []target) {
	return append(e, entry(C.vnd_client, unsafe.Pointer(c.handle))), append(t, target{owner: c.owner})
}

func (c *client) end() error {
	endExchange(c.exchange)
	return closeError(c.rcl.Close())
}
