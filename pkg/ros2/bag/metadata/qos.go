package metadata

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Infinite is ROS 2's infinite duration, 9223372036.854775807 s.
const Infinite = time.Duration(math.MaxInt64)

// QoS is the quality of service that one publisher offered while the bag was
// recorded. Policies have their ROS 2 names; "" is unknown.
type QoS struct {
	History         string // keep_last, keep_all
	Depth           int
	Reliability     string // reliable, best_effort
	Durability      string // transient_local, volatile
	Deadline        time.Duration
	Lifespan        time.Duration
	Liveliness      string // automatic, manual_by_topic
	LivelinessLease time.Duration
	// AvoidROSNamespaceConventions is true for a DDS topic without ROS's prefix
	// "rt".
	AvoidROSNamespaceConventions bool
}

// Names of the policies by their number in rmw (types.h). Metadata up to version
// 8 has the numbers, from 9 on the names.
var (
	histories     = []string{"system_default", "keep_last", "keep_all", "unknown"}
	reliabilities = []string{"system_default", "reliable", "best_effort", "unknown", "best_available"}
	durabilities  = []string{"system_default", "transient_local", "volatile", "unknown", "best_available"}
	livelinesses  = []string{"system_default", "automatic", "manual_by_node", "manual_by_topic", "unknown",
		"best_available"}
)

const unknownPolicy = "unknown"

type yamlDuration struct {
	Sec  uint64 `yaml:"sec"`
	Nsec uint64 `yaml:"nsec"`
}

type yamlQoS struct {
	History     policy       `yaml:"history"`
	Depth       int          `yaml:"depth"`
	Reliability policy       `yaml:"reliability"`
	Durability  policy       `yaml:"durability"`
	Deadline    yamlDuration `yaml:"deadline"`
	Lifespan    yamlDuration `yaml:"lifespan"`
	Liveliness  policy       `yaml:"liveliness"`
	Lease       yamlDuration `yaml:"liveliness_lease_duration"`
	Avoid       bool         `yaml:"avoid_ros_namespace_conventions"`
}

// policy is a number up to version 8 and a name from 9 on; it is kept as text.
type policy string

// UnmarshalYAML takes numbers and names alike.
func (p *policy) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: a policy is a number or a name", n.Line)
	}
	*p = policy(n.Value)
	return nil
}

func (p policy) name(names []string) string {
	if i, err := strconv.Atoi(string(p)); err == nil {
		if i >= 0 && i < len(names) && names[i] != unknownPolicy {
			return names[i]
		}
		return ""
	}
	s := strings.ToLower(string(p))
	for _, n := range names {
		if s == n && n != unknownPolicy {
			return n
		}
	}
	return ""
}

func number(name string, names []string) int {
	if i := slices.Index(names, name); i >= 0 {
		return i
	}
	return slices.Index(names, unknownPolicy)
}

// duration converts to a time.Duration. Infinite are today's infinity and those of
// Foxy's middlewares (Fast DDS, Connext: 2³¹−1 s and more).
func (t yamlDuration) duration() time.Duration {
	const foxy = math.MaxInt32
	if t.Sec == foxy && (t.Nsec == math.MaxUint32 || t.Nsec == foxy) {
		return Infinite
	}
	const maxSec, maxNsec = uint64(Infinite / time.Second), uint64(Infinite % time.Second)
	if t.Sec > maxSec || t.Sec == maxSec && t.Nsec >= maxNsec || t.Nsec > uint64(Infinite) {
		return Infinite
	}
	d := t.Sec*uint64(time.Second) + t.Nsec
	if d > uint64(Infinite) {
		return Infinite
	}
	return time.Duration(d)
}

// ParseQoS reads the YAML list that metadata.yaml and the storage files hold as a
// string: one item per publisher. An empty text is an empty list.
func ParseQoS(text string) ([]QoS, error) {
	var in []yamlQoS
	if err := yaml.Unmarshal([]byte(text), &in); err != nil {
		return nil, fmt.Errorf("QoS profiles: %w", err)
	}
	return fromYAML(in), nil
}

func fromYAML(in []yamlQoS) []QoS {
	var out []QoS
	for _, q := range in {
		out = append(out, QoS{
			History: q.History.name(histories), Depth: q.Depth,
			Reliability: q.Reliability.name(reliabilities), Durability: q.Durability.name(durabilities),
			Deadline: q.Deadline.duration(), Lifespan: q.Lifespan.duration(),
			Liveliness: q.Liveliness.name(livelinesses), LivelinessLease: q.Lease.duration(),
			AvoidROSNamespaceConventions: q.Avoid,
		})
	}
	return out
}

// FormatQoS writes the YAML list with policies as numbers, as in all versions up
// to 8. An empty list is an empty text.
func FormatQoS(profiles []QoS) string {
	var b strings.Builder
	for _, q := range profiles {
		fmt.Fprintf(&b, "- history: %d\n  depth: %d\n", number(q.History, histories), q.Depth)
		fmt.Fprintf(&b, "  reliability: %d\n", number(q.Reliability, reliabilities))
		fmt.Fprintf(&b, "  durability: %d\n", number(q.Durability, durabilities))
		formatDuration(&b, "deadline", q.Deadline)
		formatDuration(&b, "lifespan", q.Lifespan)
		fmt.Fprintf(&b, "  liveliness: %d\n", number(q.Liveliness, livelinesses))
		formatDuration(&b, "liveliness_lease_duration", q.LivelinessLease)
		fmt.Fprintf(&b, "  avoid_ros_namespace_conventions: %t\n", q.AvoidROSNamespaceConventions)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func formatDuration(b *strings.Builder, name string, d time.Duration) {
	d = max(d, 0)
	fmt.Fprintf(b, "  %s:\n    sec: %d\n    nsec: %d\n", name, d/time.Second, d%time.Second)
}
