package bag

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vnd/pkg/ros2/bag/metadata"
)

// Bags of Lyrical's rosbag2 0.33.3, of metadata version 9, which it copied from a flight of ours: what it was
// given comes back. Topics have the QoS of every publisher, as a list with policies by name.
func TestLyricalBags(t *testing.T) {
	const forever = time.Duration(math.MaxInt64)
	profile := func(reliability, durability string, depth int, lifespan time.Duration) QoS {
		return QoS{History: "keep_last", Depth: depth, Reliability: reliability, Durability: durability,
			Deadline: forever, Lifespan: lifespan, Liveliness: "automatic", LivelinessLease: forever}
	}
	log := profile("reliable", "transient_local", 1, 10*time.Second)
	deep := log
	deep.Depth = 1000
	want := map[string][]QoS{
		"/quad/mocap/pose": {profile("best_effort", "volatile", 1, forever)},
		"/quad/step":       {profile("reliable", "volatile", 1, forever)},
		"/tf":              {profile("reliable", "volatile", 1, forever)},
		"/rosout":          {log, log, deep},
	}
	hashes := map[string]string{
		"/quad/mocap/pose": "RIHS01_10f3786d7d40fd2b54367835614bff85d4ad3b5dab62bf8bca0cc232d73b4cd8",
		"/quad/step":       "RIHS01_0a8e5bee3fbc759bc73c8ad549048f701413eb749fefb6e83d2bf5bfbcb887fe",
		"/tf":              "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087",
		"/rosout":          "RIHS01_e28ce254ca8abc06abf92773b74602cdbf116ed34fbaf294fb9f81da9f318eac",
	}
	for name, files := range map[string]int{"lyrical_mcap": 1, "lyrical_sqlite3_split": 5} {
		t.Run(name, func(t *testing.T) {
			s, err := Info(unpack(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if s.MetadataVersion != metadata.Newest || s.Distro != "lyrical" || len(s.Files) != files ||
				s.Custom["who"] != "lyrical" || len(s.Warnings) > 0 || s.Lost.Any() {
				t.Errorf("%+v", s)
			}
			qos, hash := map[string][]QoS{}, map[string]string{}
			for _, topic := range s.Topics {
				qos[topic.Name], hash[topic.Name] = topic.QoS, topic.TypeHash
				if topic.Definition == "" || topic.DefinitionEncoding != "ros2msg" {
					t.Errorf("%s: definition %.20q, %q", topic.Name, topic.Definition, topic.DefinitionEncoding)
				}
			}
			if d := cmp.Diff(want, qos) + cmp.Diff(hashes, hash); d != "" {
				t.Error(d)
			}
		})
	}
}
