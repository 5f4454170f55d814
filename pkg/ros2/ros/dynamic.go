package ros

import (
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/rmw"
)

// Dynamic is a message whose type is known at run time alone.
type Dynamic struct{ cdr.Message }

// NewDynamicClient makes a client of a service of a type such as "std_srvs/srv/Trigger". response makes what a response
// is read into.
func NewDynamicClient(h Host, name, typeName string, response func() cdr.Message, options ...Option) (
	*Client[Dynamic, Dynamic], error) {
	c := &Client[Dynamic, Dynamic]{
		request: func(m *Dynamic) cdr.Message { return m.Message },
		response: func(m *Dynamic) cdr.Message {
			m.Message = response()
			return m.Message
		},
		pending: map[int64]*pending[Dynamic, Dynamic]{}}
	c.onResponse = c.receive
	err := c.open(h, name, typeName+"_Request", typeName+"_Response", options, c,
		func(n rmw.Node, t rmw.Service, q QoS) (err error) {
			c.client, err = n.NewClient(t, q, c)
			return err
		})
	if err != nil {
		return nil, err
	}
	return c, nil
}
