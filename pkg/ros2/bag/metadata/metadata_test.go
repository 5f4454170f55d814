package metadata

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// humbleQoS is what ROS 2 Humble wrote for /drone1/imu.
const humbleQoS = `- history: 1
  depth: 5
  reliability: 2
  durability: 2
  deadline:
    sec: 9223372036
    nsec: 854775807
  lifespan:
    sec: 10
    nsec: 0
  liveliness: 1
  liveliness_lease_duration:
    sec: 9223372036
    nsec: 854775807
  avoid_ros_namespace_conventions: false`

var imuQoS = QoS{
	History: "keep_last", Depth: 5, Reliability: "best_effort", Durability: "volatile",
	Deadline: Infinite, Lifespan: 10 * time.Second, Liveliness: "automatic", LivelinessLease: Infinite,
}

func TestQoSText(t *testing.T) {
	got, err := ParseQoS(humbleQoS)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]QoS{imuQoS}, got); d != "" {
		t.Error(d)
	}
	if got := FormatQoS(got); got != humbleQoS {
		t.Errorf("written:\n%s\nrosbag2 wrote:\n%s", got, humbleQoS)
	}
	named := strings.NewReplacer("history: 1", "history: keep_last", "reliability: 2", "reliability: best_effort",
		"durability: 2", "durability: volatile", "liveliness: 1", "liveliness: automatic").Replace(humbleQoS)
	if got, err = ParseQoS(named); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]QoS{imuQoS}, got); d != "" {
		t.Error("named policies:", d)
	}
}

func TestDurationOfEachMiddleware(t *testing.T) {
	for _, c := range []struct {
		name      string
		sec, nsec uint64
		want      time.Duration
	}{
		{"Fast DDS of Foxy", 2147483647, 4294967295, Infinite},
		{"Connext of Foxy", 2147483647, 2147483647, Infinite},
		{"infinite", 9223372036, 854775807, Infinite},
		{"the longest", 9223372036, 854775806, Infinite - 1},
		{"too many seconds", 1 << 63, 0, Infinite},
		{"too many nanoseconds", 0, 1 << 63, Infinite},
		{"short", 1, 5, time.Second + 5},
		{"long", 2147483647, 0, 2147483647 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (yamlDuration{c.sec, c.nsec}).duration(); got != c.want {
				t.Errorf("%d.%09d s read as %d", c.sec, c.nsec, got)
			}
		})
	}
}

func TestUnknownPoliciesAreEmpty(t *testing.T) {
	got, err := ParseQoS("- history: 3\n  reliability: 77\n  durability: strange\n  liveliness: BEST_AVAILABLE\n")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]QoS{{Liveliness: "best_available"}}, got); d != "" {
		t.Error(d)
	}
	if s := FormatQoS(got); !strings.Contains(s, "history: 3\n") || !strings.Contains(s, "reliability: 3\n") ||
		!strings.Contains(s, "liveliness: 5\n") {
		t.Error("unknown policies written as", s)
	}
	if _, err := ParseQoS("history: 1"); err == nil {
		t.Error("a mapping passed for a list of profiles")
	}
}

func sample(version int) *Metadata {
	m := &Metadata{
		Version: version, Storage: "mcap", Start: 1795228912301084436, Duration: 5548823992, Messages: 648,
		Topics: []Topic{
			{TopicType{Name: "/drone1/imu", Type: "sensor_msgs/msg/Imu", Format: "cdr", QoS: []QoS{imuQoS, imuQoS}},
				278},
			{TopicType{Name: "/tf", Type: "tf2_msgs/msg/TFMessage", Format: "cdr"}, 370},
		},
		CompressionFormat: "zstd", CompressionMode: "FILE",
		Paths: []string{"a_0.mcap.zstd", "a_1.mcap.zstd"},
		Files: []File{{"a_0.mcap", 1795228912301084436, 5, 2}, {"a_1.mcap", 1795228912301084446, 5548823982, 646}},
	}
	if version >= 8 {
		m.Custom = map[string]string{"vnd.dropped": "12", "~": "null", "n": "0x1f"}
		m.Distro = "jazzy"
		m.Topics[0].Type.TypeHash = "RIHS01_7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b"
	}
	return m
}

func TestWriteAndRead(t *testing.T) {
	for _, v := range []int{Humble, Current} {
		want := sample(v)
		text, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("version %d: %s", v, d)
		}
		if v == Humble && (strings.Contains(string(text), "custom_data") ||
			strings.Contains(string(text), "type_description_hash")) {
			t.Errorf("version 5 with fields of newer ones:\n%s", text)
		}
		if text, err = want.EncodeEmbedded(); err != nil {
			t.Fatal(err)
		}
		if got, err = ParseEmbedded(text); err != nil || !cmp.Equal(want, got) {
			t.Errorf("embedded: %v %s", err, cmp.Diff(want, got))
		}
	}
	if _, err := (&Metadata{Version: 9}).Encode(); err == nil {
		t.Error("version 9 was written")
	}
}

// yamlOf is the metadata.yaml of one bag in each version, by rosbag2's own history.
func yamlOf(version int) string {
	parts := []struct {
		from int // version
		text string
	}{
		{3, fmt.Sprintf("rosbag2_bagfile_information:\n  version: %d\n", version)},
		{3, `  storage_identifier: sqlite3
  duration:
    nanoseconds: 7
  starting_time:
    nanoseconds_since_epoch: 9
  message_count: 3
  topics_with_message_count:
    - topic_metadata:
        name: /imu
        type: sensor_msgs/msg/Imu
        serialization_format: cdr
`},
		{4, "        offered_qos_profiles: \"" + strings.ReplaceAll(humbleQoS, "\n", "\\n") + "\"\n"},
		{7, "        type_description_hash: RIHS01_00\n"},
		{3, `      message_count: 3
  compression_format: ""
  compression_mode: ""
  relative_file_paths:
    - b_0.db3
`},
		{5, `  files:
    - path: b_0.db3
      starting_time:
        nanoseconds_since_epoch: 9
      duration:
        nanoseconds: 7
      message_count: 3
`},
		{6, "  custom_data: ~\n"},
		{8, "  ros_distro: rolling\n"},
	}
	if version >= 9 {
		parts[2].text = `        offered_qos_profiles:
          - history: keep_last
            depth: 5
            reliability: best_effort
            durability: volatile
            deadline: {sec: 9223372036, nsec: 854775807}
            lifespan: {sec: 10, nsec: 0}
            liveliness: automatic
            liveliness_lease_duration: {sec: 9223372036, nsec: 854775807}
            avoid_ros_namespace_conventions: false
`
	}
	text := ""
	for _, p := range parts {
		if version >= p.from {
			text += p.text
		}
	}
	return text
}

func TestParseReadsEveryVersion(t *testing.T) {
	for v := Oldest; v <= Newest; v++ {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			want := &Metadata{Version: v, Storage: "sqlite3", Start: 9, Duration: 7, Messages: 3,
				Paths: []string{"b_0.db3"}}
			want.Topics = []Topic{{TopicType{Name: "/imu", Type: "sensor_msgs/msg/Imu", Format: "cdr"}, 3}}
			if v >= 4 {
				want.Topics[0].Type.QoS = []QoS{imuQoS}
			}
			if v >= 5 {
				want.Files = []File{{"b_0.db3", 9, 7, 3}}
			}
			if v >= 7 {
				want.Topics[0].Type.TypeHash = "RIHS01_00"
			}
			if v >= 8 {
				want.Distro = "rolling"
			}
			got, err := Parse([]byte(yamlOf(v)))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	const root = "rosbag2_bagfile_information:\n"
	for name, c := range map[string]struct{ text, want string }{
		"an empty file":   {"", "no rosbag2_bagfile_information"},
		"no YAML":         {"a: [1", "line 1"},
		"an old version":  {root + "  version: 2\n", "version 2"},
		"a new version":   {root + "  version: 12\n", "version 12, read are 3 to 9"},
		"negative counts": {root + "  version: 5\n  message_count: -3\n", "line 3"},
		"malformed QoS": {root + "  version: 5\n  topics_with_message_count:\n    - topic_metadata:\n" +
			"        offered_qos_profiles: \"history: 1\"\n", "line 5"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, expected %q", err, c.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, v := range []int{Humble, Current} {
		text, _ := sample(v).Encode()
		f.Add(text)
	}
	f.Add([]byte("rosbag2_bagfile_information: {version: 9, topics_with_message_count: " +
		"[{topic_metadata: {offered_qos_profiles: [{history: keep_last}]}}]}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Parse(text)
		if err != nil {
			return
		}
		// What was read is the same after it is written and read again.
		m.Version = Current
		again, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(again)
		if err != nil {
			t.Fatalf("%v in what was written:\n%s", err, again)
		}
		if m.Messages == 0 {
			m.Start, got.Start = 0, 0
		}
		if d := cmp.Diff(m, got, cmpopts.EquateEmpty()); d != "" {
			t.Error(d)
		}
	})
}

// FuzzEmbedded parses and writes the copies of metadata that storage files hold.
func FuzzEmbedded(f *testing.F) {
	whole := sample(Current)
	text, err := whole.EncodeEmbedded()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add(FormatQoS(whole.Topics[0].Type.QoS))
	f.Add("- history: keep_all\n  depth: 0\n  durability: transient_local\n  deadline: {sec: 1, nsec: 5}\n")
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := ParseEmbedded([]byte(text)); err == nil {
			m.Version = Current
			if again, err := m.EncodeEmbedded(); err != nil {
				t.Fatal(err)
			} else if _, err := ParseEmbedded(again); err != nil {
				t.Fatalf("%v in what was written:\n%s", err, again)
			}
		}
		profiles, err := ParseQoS(text)
		if err != nil {
			return
		}
		again, err := ParseQoS(FormatQoS(profiles))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(profiles, again); d != "" {
			t.Error(d)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	text, _ := sample(Current).Encode()
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
