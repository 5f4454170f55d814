package encoder

import (
	"testing"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// TestTopicsHaveTheQoSOfTheContract holds the endpoints of the running node to literal values.
func TestTopicsHaveTheQoSOfTheContract(t *testing.T) {
	h := newHarness(t)
	graph := h.n.Context().Graph()
	for _, c := range []struct {
		topic       string
		all         []rmw.Endpoint
		reliability dds.Reliability
		durability  dds.Durability
	}{
		{"latent", graph.Publishers("/latent"), dds.BestEffort, dds.Volatile},
		{"step", graph.Subscriptions("/step"), dds.Reliable, dds.Volatile},
		{"bundle", graph.Subscriptions("/bundle"), dds.Reliable, dds.TransientLocal},
	} {
		t.Run(c.topic, func(t *testing.T) {
			if len(c.all) != 1 {
				t.Fatalf("%d endpoints, want one", len(c.all))
			}
			if q := c.all[0].QoS; q.Reliability != c.reliability || q.Durability != c.durability {
				t.Errorf("%+v, want reliability %v and durability %v", q, c.reliability, c.durability)
			}
		})
	}
}
