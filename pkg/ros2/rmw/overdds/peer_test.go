//go:build cgo && !nocyclone

package overdds_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vnd/pkg/ros2/rmw"
)

// startPeer runs testdata/peer.py with the Python of VND_PYTHON, which has cyclonedds.
func startPeer(t *testing.T, at place, args ...string) *process {
	t.Helper()
	python := os.Getenv("VND_PYTHON")
	if python == "" {
		t.Skip("VND_PYTHON is not set (make test sets it): no independent DDS at hand")
	}
	args = append([]string{filepath.Join("testdata", "peer.py"), fmt.Sprint(at.Domain), at.XML}, args...)
	return start(t, exec.Command(python, args...))
}

func openNode(t *testing.T, at place, name string) (rmw.Context, rmw.Node) {
	t.Helper()
	c, err := at.open("/", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	n, err := c.NewNode("/", name)
	if err != nil {
		t.Fatal(err)
	}
	return c, n
}

// TestPeerServes: a plain DDS program answers our requests.
func TestPeerServes(t *testing.T) {
	at := newPlace()
	peer := startPeer(t, at, "server")
	c, n := openNode(t, at, "client")
	client, err := n.NewClient(arm, rmw.ServicesQoS(), "client")
	if err != nil {
		t.Fatal(err)
	}
	peer.line("ready", idle)
	for range 3 {
		if got := call(t, c, client); got != "armed by python" {
			t.Errorf("response %q", got)
		}
	}
}

// TestPeerCalls: a plain DDS program gets answers to its requests.
func TestPeerCalls(t *testing.T) {
	at := newPlace()
	c, n := openNode(t, at, "server")
	server, err := n.NewServer(arm, rmw.ServicesQoS(), "server")
	if err != nil {
		t.Fatal(err)
	}
	peer := startPeer(t, at, "client", "3")
	line := peer.line("[", func() {
		if _, err := c.Wait(0, nil); err != nil {
			t.Fatal(err)
		}
		if err := answerAll(server, "armed by go"); err != nil {
			t.Fatal(err)
		}
	})
	want := `[[1, true, "armed by go"], [2, true, "armed by go"], [3, true, "armed by go"]]`
	if line != want {
		t.Errorf("%s, want %s", line, want)
	}
}

// TestPeerReadsGraph: a plain DDS program decodes our announcements in Humble's form.
func TestPeerReadsGraph(t *testing.T) {
	at := newPlace()
	c, n := openNode(t, at, "talker")
	pub, err1 := n.NewPublisher(rmw.Topic{Name: "/chatter", Type: "std_msgs/msg/String"}, rmw.DefaultQoS(), nil)
	sub, err2 := n.NewSubscription(rmw.Topic{Name: "/cmd", Type: "std_msgs/msg/String"}, rmw.DefaultQoS(), "sub")
	other, err3 := c.NewNode("/drone1", "other")
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	defer other.Close()
	line := startPeer(t, at, "nodes", "talker", "other").line("{", idle)
	var got map[string][][]any
	if err := json.Unmarshal([]byte(line), &got); err != nil {
		t.Fatal(err)
	}
	gid := func(g rmw.GID) string { return g.String() + "0000000000000000" }
	want := map[string][][]any{gid(c.GID()): {
		{"/", "talker", []any{gid(sub.GID())}, []any{gid(pub.GID())}}, {"/drone1", "other", []any{}, []any{}}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestPeerAnnounces: the node that a plain DDS program announces is in the graph.
func TestPeerAnnounces(t *testing.T) {
	at := newPlace()
	c, _ := openNode(t, at, "watcher")
	peer := startPeer(t, at, "announce", "snake")
	var ids []string
	if err := json.Unmarshal([]byte(peer.line("[", idle)), &ids); err != nil {
		t.Fatal(err)
	}
	snake := rmw.NodeName{Namespace: "/python", Name: "snake", Enclave: "/python"}
	until(t, c, "the snake and its reader", func() bool {
		of, err := c.Graph().Of(snake)
		return err == nil && len(of.Servers["/drone1/arm"]) == 1
	})
	if nodes := c.Graph().Nodes(); len(nodes) != 2 || nodes[1] != snake {
		t.Errorf("nodes %v", nodes)
	}
	for _, id := range ids {
		if b, err := hex.DecodeString(id); err != nil || len(b) != 16 {
			t.Errorf("GUID %q", id)
		}
	}
	peer.in.Close()
	until(t, c, "the snake gone", func() bool { return len(c.Graph().Nodes()) == 1 })
}
