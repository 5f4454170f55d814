package overrcl

import (
	"time"

	"github.com/tiiuae/rclgo/pkg/rclgo"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// profileOf is what rcl has of a QoS: how long a reliable Publish may wait is not among it.
func profileOf(q rmw.QoS) rclgo.QosProfile {
	p := rclgo.QosProfile{History: rclgo.HistoryKeepLast, Depth: max(q.Depth, 1),
		Reliability: rclgo.ReliabilityBestEffort, Durability: rclgo.DurabilityVolatile,
		Liveliness: rclgo.LivelinessAutomatic,
		Deadline:   q.Deadline, Lifespan: q.Lifespan, LivelinessLeaseDuration: q.Lease}
	if q.History == dds.KeepAll {
		p.History = rclgo.HistoryKeepAll
	}
	if q.Reliability == dds.Reliable {
		p.Reliability = rclgo.ReliabilityReliable
	}
	if q.Durability == dds.TransientLocal {
		p.Durability = rclgo.DurabilityTransientLocal
	}
	if q.Liveliness == dds.ManualByTopic {
		p.Liveliness = rclgo.LivelinessManualByTopic
	}
	return p
}

// qosOf is the other way round; what discovery did not carry is zero.
func qosOf(p rclgo.QosProfile) rmw.QoS {
	q := rmw.QoS{Depth: p.Depth, Deadline: finite(p.Deadline), Lifespan: finite(p.Lifespan),
		Lease: finite(p.LivelinessLeaseDuration)}
	if p.History == rclgo.HistoryKeepAll {
		q.History = dds.KeepAll
	}
	if p.Reliability == rclgo.ReliabilityReliable {
		q.Reliability = dds.Reliable
	}
	if p.Durability == rclgo.DurabilityTransientLocal {
		q.Durability = dds.TransientLocal
	}
	if p.Liveliness == rclgo.LivelinessManualByTopic {
		q.Liveliness = dds.ManualByTopic
	}
	return q
}

// finite has 0 for what is infinite. Middlewares round infinity as they like.
func finite(d time.Duration) time.Duration {
	const ages = 100 * 365 * 24 * time.Hour
	if d < 0 || d > ages {
		return 0
	}
	return d
}
