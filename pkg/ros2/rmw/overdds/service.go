package overdds

import (
	"errors"
	"fmt"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// serviceEnd is what a client and a server have in common: one writer and one
// reader, each on its own topic.
type serviceEnd struct {
	node    *node
	service string
	writer  dds.Writer
	reader  dds.Reader
	inbox   *inbox
}

// related says whether samples have the identity of a request beside them.
func (e *serviceEnd) related() bool { return e.node != nil && e.node.context.related }

func (e *serviceEnd) gids() (reader, writer rmw.GID) { return e.reader.GUID(), e.writer.GUID() }

func (e *serviceEnd) closeEndpoints() error { return errors.Join(e.writer.Close(), e.reader.Close()) }

// Directions of a service's messages, as parts of their type's name.
const (
	requestType, responseType = "_Request", "_Response"
)

// newServiceEnd makes a client's or server's two endpoints, writer first as ROS does.
// Both carry the same id under key, which tells others that they belong together, and
// after Humble the hash of the service: without it Lyrical's ros2 service info -v fails.
// write is the direction that this end sends.
func (n *node) newServiceEnd(s rmw.Service, q rmw.QoS, owner any, key, write string) (serviceEnd, error) {
	if err := s.Check(); err != nil {
		return serviceEnd{}, err
	}
	if owner == nil {
		return serviceEnd{}, rmw.ErrNoOwner
	}
	topics := serviceTopics(s)
	hashes := map[string]string{requestType: s.RequestHash, responseType: s.ResponseHash}
	read := responseType
	if write == responseType {
		read = requestType
	}
	c := n.context
	pairs := key + "=" + pairID(c.GID(), c.pairs.Add(1)) + ";"
	if c.newer {
		pairs += hashPair(serviceHashKey, s.Hash)
	}
	e := serviceEnd{node: n, service: s.Name}
	var err error
	q.UserData = c.userData(pairs, hashes[write])
	if e.writer, err = c.participant.NewWriter(topics[write], q, &internalOwner{}); err != nil {
		return e, err
	}
	q.UserData = c.userData(pairs, hashes[read])
	if e.reader, err = c.participant.NewReader(topics[read], q, &internalOwner{user: owner}); err != nil {
		return e, errors.Join(err, e.writer.Close())
	}
	return e, nil
}

// serviceTopics are the DDS topics of a service by direction.
func serviceTopics(s rmw.Service) map[string]dds.Topic {
	request, reply := mangleService(s.Name)
	return map[string]dds.Topic{
		requestType:  {Name: request, Type: mangleType(s.Type, requestType)},
		responseType: {Name: reply, Type: mangleType(s.Type, responseType)},
	}
}

func (e *serviceEnd) notCDR(message []byte) error {
	return fmt.Errorf("service %s: a message of %d bytes that begins with % x, "+
		"expected CDR with an encapsulation header", e.service, len(message), message[:min(len(message), 4)])
}
