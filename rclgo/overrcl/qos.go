package overrcl

import (
	"time"

	"github.com/tiiuae/rclgo/pkg/rclgo"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// profileOf is a QoS as a profile of rcl, which has no MaxBlocking.
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

// qosOf is a QoS from a profile of rcl. Values that discovery does not carry are zero.
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

// finite is 0 for an infinite duration; middlewares round infinity differently.
func finite(d time.Duration) time.Duration {
	const ages = 100 * 365 * 24 * time.Hour
	if d < 0 || d > ages {
		return 0
	}
	return d
}
