package overrcl

/*
#include <stdlib.h>
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

// NewPublisher makes a publisher whose type is looked up in the workspace.
func (n *node) NewPublisher(t rmw.Topic, q rmw.QoS, owner any) (rmw.Publisher, error) {
	support, profile, err := prepare(t, q)
	if err != nil {
		return nil, err
	}
	p := &publisher{topicEnd: topicEnd{node: n, topic: t.Name, owner: owner}}
	err = n.newEntity(func() (entity, error) {
		if p.rcl, err = n.rcl.NewPublisher(t.Name, support, &rclgo.PublisherOptions{Qos: profile}); err != nil {
			return nil, errorOf(err)
		}
		p.handle = (*C.rcl_publisher_t)(publisherHandle.of(p.rcl))
		p.events.publisher(p.handle)
		p.count = p.rcl.GetSubscriptionCount
		return p, nil
	})
	if err != nil {
		return nil, fmt.Errorf("topic %s: %w", t.Name, err)
	}
	return p, nil
}

// NewSubscription makes a subscription whose type is looked up in the workspace.
func (n *node) NewSubscription(t rmw.Topic, q rmw.QoS, owner any) (rmw.Subscription, error) {
	support, profile, err := prepare(t, q)
	if err != nil {
		return nil, err
	}
	if owner == nil {
		return nil, fmt.Errorf("topic %s: %w", t.Name, rmw.ErrNoOwner)
	}
	s := &subscription{topicEnd: topicEnd{node: n, topic: t.Name, owner: owner, lease: q.Lease}}
	err = n.newEntity(func() (entity, error) {
		if s.rcl, err = n.rcl.NewSubscription(t.Name, support, &rclgo.SubscriptionOptions{Qos: profile},
			nil); err != nil {
			return nil, errorOf(err)
		}
		s.handle = (*C.rcl_subscription_t)(subscriptionHandle.of(s.rcl))
		s.message = (*C.struct_vnd_message)(C.malloc(C.sizeof_struct_vnd_message))
		C.vnd_message_init(s.message)
		s.events.subscription(s.handle)
		s.count = s.rcl.GetPublisherCount
		return s, nil
	})
	if err != nil {
		return nil, fmt.Errorf("topic %s: %w", t.Name, err)
	}
	return s, nil
}

func prepare(t rmw.Topic, q rmw.QoS) (*messageType, rclgo.QosProfile, error) {
	if err := t.Check(); err != nil {
		return nil, rclgo.QosProfile{}, err
	}
	if err := q.Check(dds.Topic{Name: t.Name, Type: t.Type}); err != nil {
		return nil, rclgo.QosProfile{}, err
	}
	support, err := newMessageType(t.Type)
	if err != nil {
		return nil, rclgo.QosProfile{}, fmt.Errorf("topic %s: %w", t.Name, err)
	}
	return support, profileOf(q), nil
}

type publisher struct {
	closeGuard
	topicEnd
	rcl    *rclgo.Publisher
	handle *C.rcl_publisher_t
}

// Publish sends a message. rcl takes no source time: it is the time of the call.
func (p *publisher) Publish(message []byte, _ int64) error {
	if err := dds.CheckSample(p.topic, message); err != nil {
		return err
	}
	if err := p.enter(); err != nil {
		return fmt.Errorf("topic %s: %w", p.topic, err)
	}
	defer p.leave()
	failed := C.vnd_publish(p.handle, unsafe.Pointer(unsafe.SliceData(message)), C.size_t(len(message)))
	if failed != nil {
		return fmt.Errorf("topic %s: %w", p.topic, failure(failed))
	}
	return nil
}

func (p *publisher) Status() dds.Status {
	if p.enter() != nil {
		return p.last()
	}
	defer p.leave()
	return p.now()
}

func (p *publisher) GID() rmw.GID { return p.gid(p.node.context.graph.Publishers) }
func (p *publisher) Close() error { return p.node.remove(p) }

func (p *publisher) entries(e []C.struct_vnd_entry, t []target) ([]C.struct_vnd_entry, []target) {
	return p.events.entries(e, t, &p.topicEnd)
}

func (p *publisher) end() error {
	p.events.end()
	return closeError(p.rcl.Close())
}

type subscription struct {
	closeGuard
	topicEnd
	rcl       *rclgo.Subscription
	handle    *C.rcl_subscription_t
	message   *C.struct_vnd_message
	takeCalls takeCalls
}

func (s *subscription) Take(max int, f func(*dds.Sample)) (int, error) {
	v := s.takeCalls.get()
	defer s.takeCalls.put(v)
	for taken := 0; taken < max; taken++ {
		more, err := s.take(v)
		if err != nil || !more {
			return taken, err
		}
		f(&v.sample)
	}
	return max, nil
}

// take copies one message, so that its callback may call any method.
func (s *subscription) take(v *takeCall) (bool, error) {
	if err := s.lockAll(); err != nil {
		return false, fmt.Errorf("topic %s: %w", s.topic, err)
	}
	defer s.unlockAll()
	if failed := C.vnd_take(s.handle, s.message); failed != nil {
		return false, fmt.Errorf("topic %s: %w", s.topic, failure(failed))
	}
	return v.take(s.message), nil
}

func (s *subscription) Status() dds.Status {
	if s.enter() != nil {
		return s.last()
	}
	defer s.leave()
	return s.now()
}

func (s *subscription) GID() rmw.GID { return s.gid(s.node.context.graph.Subscriptions) }
func (s *subscription) Close() error { return s.node.remove(s) }

func (s *subscription) entries(e []C.struct_vnd_entry, t []target) ([]C.struct_vnd_entry, []target) {
	e = append(e, entry(C.vnd_subscription, unsafe.Pointer(s.handle)))
	t = append(t, target{owner: s.owner})
	return s.events.entries(e, t, &s.topicEnd)
}

func (s *subscription) end() error {
	s.events.end()
	C.vnd_message_fini(s.message)
	C.free(unsafe.Pointer(s.message))
	return closeError(s.rcl.Close())
}

// closeError is the error of closing an rclgo object.
func closeError(err error) error {
	if err == nil {
		return nil
	}
	return errorOf(err)
}

func entry(kind C.int, handle unsafe.Pointer) C.struct_vnd_entry {
	return C.struct_vnd_entry{kind: kind, handle: handle}
}
