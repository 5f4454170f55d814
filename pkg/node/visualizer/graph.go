package visualizer

import (
	"context"
	"fmt"
	"io"
	"time"

	"vnd/msgs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
)

// graph is what Foxglove is shown.
type graph struct {
	n     *ros.Node
	group *ros.Group
}

// Topics are those that somebody publishes, less what is hidden.
func (g graph) Topics() map[string]string {
	of := g.n.Context().Graph()
	all := map[string]string{}
	for name, types := range of.Topics() {
		if len(types) == 1 && !rmw.Hidden(name) && len(of.Publishers(name)) > 0 {
			all[name] = types[0]
		}
	}
	return all
}

// Services are those of the graph, less what is hidden.
func (g graph) Services() map[string]string {
	all := map[string]string{}
	for name, types := range g.n.Context().Graph().Services() {
		if len(types) == 1 && !rmw.Hidden(name) {
			all[name] = types[0]
		}
	}
	return all
}

// Subscribe takes the QoS that all publishers of the topic match.
func (g graph) Subscribe(topic, typeName string, take func(data []byte, at int64)) (io.Closer, error) {
	q := ros.QoS{Reliability: dds.Reliable, Durability: dds.TransientLocal, Depth: 10}
	for _, e := range g.n.Context().Graph().Publishers(topic) {
		if e.QoS.Reliability != dds.Reliable {
			q.Reliability = dds.BestEffort
		}
		if e.QoS.Durability != dds.TransientLocal {
			q.Durability = dds.Volatile
		}
	}
	return ros.NewRawSubscription(g.n, topic, typeName, q, func(data []byte, i ros.Info) {
		take(data, int64(i.Source))
	}, ros.InGroup(g.group))
}

// Call calls a service of a type that this program knows.
func (g graph) Call(ctx context.Context, name, typeName string, request []byte) ([]byte, error) {
	t, ok := msgs.LookupService(typeName)
	if !ok {
		return nil, fmt.Errorf("service %s is of type %s, which this program does not know", name, typeName)
	}
	q := t.Request.New()
	if err := cdr.Unmarshal(request, q); err != nil {
		return nil, fmt.Errorf("service %s: %w", name, err)
	}
	c, err := ros.NewDynamicClient(g.n, name, typeName, t.Response.New)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	const there = 2 * time.Second
	found, stop := context.WithTimeout(ctx, there)
	defer stop()
	if err := c.WaitForService(found); err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := c.Call(within, &ros.Dynamic{Message: q})
	if err != nil {
		return nil, err
	}
	return cdr.Marshal(r.Message)
}
