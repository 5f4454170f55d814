package overdds

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw"
)

// observer is a participant on plain DDS that records endpoints.
type observer struct {
	dds.Participant
	t     testing.TB
	alive map[dds.GUID]dds.Change
}

func observe(t testing.TB, d *inproc.Domain) *observer {
	o := &observer{d.Open(nil), t, map[dds.GUID]dds.Change{}}
	t.Cleanup(func() { o.Close() })
	return o
}

// endpoints lists the endpoints of a participant, by topic.
func (o *observer) endpoints(of rmw.GID) []dds.Change {
	o.t.Helper()
	if err := o.Changes(func(c dds.Change) {
		if c.Alive {
			o.alive[c.GUID] = c
		} else {
			delete(o.alive, c.GUID)
		}
	}); err != nil {
		o.t.Fatal(err)
	}
	var found []dds.Change
	for _, c := range o.alive {
		if c.Participant == of && c.Kind != dds.ParticipantKind {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b dds.Change) int {
		return cmp.Or(strings.Compare(a.Topic.Name, b.Topic.Name), int(a.Kind)-int(b.Kind))
	})
	return found
}

func join(t testing.TB, d *inproc.Domain, distro string) *context {
	t.Helper()
	c, err := New(d.Open(UserData("/")), Options{Distro: distro})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*context)
}

const (
	setBool = "std_srvs/srv/SetBool"
	hashA   = "RIHS01_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	hashB   = "RIHS01_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	hashC   = "RIHS01_cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
)

var (
	chatter = rmw.Topic{Name: "/drone1/chatter", Type: "std_msgs/msg/String", Hash: hashA}
	armed   = rmw.Service{Name: "/drone1/arm", Type: setBool, Hash: hashC, RequestHash: hashA, ResponseHash: hashB}
)

// TestWire: names, user data and QoS that others discover of a node are those of
// rmw_cyclonedds_cpp, in Humble and in Jazzy.
func TestWire(t *testing.T) {
	for _, distro := range []string{"humble", "jazzy"} {
		t.Run(distro, func(t *testing.T) { testWire(t, distro) })
	}
}

func testWire(t *testing.T, distro string) {
	d := inproc.NewDomain()
	watch := observe(t, d)
	c := join(t, d, distro)
	n, _ := c.NewNode("/drone1", "talker")
	_, err1 := n.NewPublisher(rmw.Topic{Name: "/rosout", Type: "rcl_interfaces/msg/Log"}, rmw.RosoutQoS(), nil)
	_, err2 := n.NewPublisher(chatter, rmw.DefaultQoS(), nil)
	_, err3 := n.NewServer(armed, rmw.ServicesQoS(), t)
	_, err4 := n.NewClient(rmw.Service{Name: "/kick", Type: "std_srvs/srv/Trigger"}, rmw.ParametersQoS(), t)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	got := watch.endpoints(c.GID())
	for i := range got {
		got[i].QoS.UserData, got[i].UserData = got[i].UserData, nil
		got[i].GUID, got[i].Participant, got[i].Alive = dds.GUID{}, dds.GUID{}, false
		// The backend decides these.
		got[i].QoS.MaxBlocking, got[i].QoS.IgnoreLocal = dds.Infinite, got[i].QoS.History == dds.KeepAll
	}
	if diff := gocmp.Diff(discovered(c.GID(), distro), got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if h := c.graph.Publishers("/drone1/chatter")[0].Hash; (h == hashA) != (distro == "jazzy") {
		t.Errorf("hash %q", h)
	}
}

// discovered are the endpoints of testWire as others discover them.
func discovered(process rmw.GID, distro string) []dds.Change {
	hash := func(pair, h string) []byte {
		if distro == "jazzy" {
			pair += hashPair(hashKey, h)
		}
		return []byte(pair)
	}
	server, client := "serviceid="+pairID(process, 1)+";", "clientid="+pairID(process, 2)+";"
	if distro == "jazzy" {
		server += "sertypehash=" + hashC + ";"
	}
	qos := func(depth int, userData []byte) dds.QoS {
		return dds.QoS{Reliability: dds.Reliable, MaxBlocking: dds.Infinite, Depth: depth, UserData: userData}
	}
	latched := func(depth int, lifespan time.Duration) dds.QoS {
		q := qos(depth, nil)
		q.Durability, q.Lifespan = dds.TransientLocal, lifespan
		return q
	}
	all := latched(0, 0)
	all.History, all.IgnoreLocal = dds.KeepAll, true
	const interfaces, srvs = "rcl_interfaces::msg::dds_::", "std_srvs::srv::dds_::"
	return []dds.Change{
		{Kind: dds.WriterKind, Topic: infoTopic, QoS: latched(1, 0)},
		{Kind: dds.ReaderKind, Topic: infoTopic, QoS: all},
		{Kind: dds.ReaderKind, Topic: dds.Topic{Name: "rq/drone1/armRequest", Type: srvs + "SetBool_Request_"},
			QoS: qos(10, hash(server, hashA))},
		{Kind: dds.WriterKind, Topic: dds.Topic{Name: "rq/kickRequest", Type: srvs + "Trigger_Request_"},
			QoS: qos(1000, []byte(client))},
		{Kind: dds.WriterKind, Topic: dds.Topic{Name: "rr/drone1/armReply", Type: srvs + "SetBool_Response_"},
			QoS: qos(10, hash(server, hashB))},
		{Kind: dds.ReaderKind, Topic: dds.Topic{Name: "rr/kickReply", Type: srvs + "Trigger_Response_"},
			QoS: qos(1000, []byte(client))},
		{Kind: dds.WriterKind, Topic: dds.Topic{Name: "rt/drone1/chatter", Type: "std_msgs::msg::dds_::String_"},
			QoS: qos(10, hash("", hashA))},
		{Kind: dds.WriterKind, Topic: dds.Topic{Name: "rt/rosout", Type: interfaces + "Log_"},
			QoS: latched(1000, 10*time.Second)},
	}
}

// TestAnnouncements: each change announces all nodes of the process, the last one none. Every Gid
// has the size of its distribution.
func TestAnnouncements(t *testing.T) {
	for distro, size := range map[string]gidSize{"": humbleGid, "humble": humbleGid, "iron": newerGid,
		"jazzy": newerGid} {
		d := inproc.NewDomain()
		p := d.Open(nil)
		q := infoReaderQoS()
		r, err := p.NewReader(infoTopic, q, t)
		if err != nil {
			t.Fatal(err)
		}
		c := join(t, d, distro)
		n, _ := c.NewNode("/drone1", "talker")
		pub, _ := n.NewPublisher(chatter, rmw.DefaultQoS(), nil)
		server, _ := n.NewServer(armed, rmw.ServicesQoS(), t)
		sr, sw := server.(entity).gids()
		pub.Close()
		n.Close()
		c.Close()
		talker := func(readers, writers []rmw.GID) []nodeInfo {
			return []nodeInfo{{"/drone1", "talker", readers, writers}}
		}
		want := [][]nodeInfo{nil, talker(nil, nil), talker(nil, []rmw.GID{pub.GID()}),
			talker([]rmw.GID{sr}, []rmw.GID{pub.GID(), sw}), talker([]rmw.GID{sr}, []rmw.GID{sw}), nil, nil}
		var got [][]nodeInfo
		if _, err := r.Take(100, func(s *dds.Sample) {
			m, err := decodeInfo(s.Data, size)
			if err != nil || m.gid != c.GID() {
				t.Fatalf("%s: %v in %x", distro, err, s.Data)
			}
			got = append(got, m.nodes)
		}); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, got, gocmp.AllowUnexported(nodeInfo{})); diff != "" {
			t.Errorf("%q: %s", distro, diff)
		}
		p.Close()
	}
}

// TestMixedDistributions: processes of Humble and Jazzy see each other's nodes.
func TestMixedDistributions(t *testing.T) {
	d := inproc.NewDomain()
	for _, distro := range []string{"humble", "jazzy"} {
		if _, err := join(t, d, distro).NewNode("/", distro); err != nil {
			t.Fatal(err)
		}
	}
	for _, distro := range []string{"humble", "jazzy"} {
		var names []string
		for _, n := range join(t, d, distro).Graph().Nodes() {
			names = append(names, n.Name)
		}
		if !slices.Equal(names, []string{"humble", "jazzy"}) {
			t.Errorf("%s sees %v", distro, names)
		}
	}
}
