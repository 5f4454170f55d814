//go:build cgo && !nocyclone

package overdds_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/cyclone"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/rmw/overdds"
	"vnd/pkg/ros2/rmw/rmwtest"
)

// loopback confines discovery to this machine and the processes of one test. The lease of a
// killed process ends after a second.
func loopback(tag string) string {
	return `<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="lo"/></Interfaces>` +
		`<AllowMulticast>false</AllowMulticast></General><Discovery><Tag>` + tag +
		`</Tag><LeaseDuration>1 s</LeaseDuration>` +
		`<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>60</MaxAutoParticipantIndex>` +
		`<Peers><Peer address="127.0.0.1"/></Peers></Discovery></Domain></CycloneDDS>`
}

// place is the domain and configuration of one test's processes.
type place struct {
	Domain int
	XML    string
}

// newPlace is a domain of this process. Its tag keeps out others on the same domain.
func newPlace() place {
	return place{1 + os.Getpid()%100, loopback(fmt.Sprint("vnd_rmw_", os.Getpid()))}
}

func (p place) open(enclave, distro string) (rmw.Context, error) {
	participant, err := cyclone.Open(cyclone.Config{Domain: p.Domain, XML: p.XML, UserData: overdds.UserData(enclave)})
	if err != nil {
		return nil, err
	}
	return overdds.New(participant, overdds.Options{Distro: distro, Enclave: enclave})
}

// TestCyclone runs the conformance suite over Cyclone DDS, in the wire formats of Humble and
// Jazzy.
func TestCyclone(t *testing.T) {
	for _, distro := range []string{"humble", "jazzy"} {
		t.Run(distro, func(t *testing.T) {
			rmwtest.Run(t, func(testing.TB) rmwtest.Open {
				return func(enclave string) (rmw.Context, error) { return newPlace().open(enclave, distro) }
			})
		})
	}
}

// role is the environment variable that selects what this binary does instead of tests.
const role = "VND_RMW_ROLE"

func TestMain(m *testing.M) {
	run := map[string]func(place) error{"talker": talk, "crowd": crowd}[os.Getenv(role)]
	if run == nil {
		os.Exit(m.Run())
	}
	var at place
	err := json.Unmarshal([]byte(os.Getenv("VND_RMW_PLACE")), &at)
	if err == nil {
		err = run(at)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, os.Getenv(role)+":", err)
		os.Exit(1)
	}
}

// talk is a process with several nodes. It serves /drone1/arm, and calls /parent for every line
// of its standard input until that ends.
func talk(p place) error {
	c, err := p.open("/", "")
	if err != nil {
		return err
	}
	defer c.Close()
	var nodes []rmw.Node
	for _, name := range []string{"talker", "twin", "twin", "_hidden"} {
		n, err := c.NewNode("/drone1", name)
		if err != nil {
			return err
		}
		nodes = append(nodes, n)
	}
	pub, err1 := nodes[0].NewPublisher(rmw.Topic{Name: "/drone1/chatter", Type: "std_msgs/msg/String"},
		rmw.StaticTFBroadcasterQoS(), nil)
	server, err2 := nodes[0].NewServer(arm, rmw.ServicesQoS(), "server")
	client, err3 := nodes[1].NewClient(parent, rmw.ServicesQoS(), "client")
	if err1 != nil || err2 != nil || err3 != nil {
		return fmt.Errorf("%v, %v, %v", err1, err2, err3)
	}
	if err := pub.Publish([]byte{0, 1, 0, 0, 3, 0, 0, 0, 'h', 'i', 0}, 0); err != nil {
		return err
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(os.Stdin); s.Scan(); {
			lines <- s.Text()
		}
	}()
	fmt.Println("ready")
	for {
		if _, err := c.Wait(2*time.Millisecond, nil); err != nil {
			return err
		}
		if err := answerAll(server, "armed by "+fmt.Sprint(os.Getpid())); err != nil {
			return err
		}
		if _, err := client.Take(1, func(_ int64, r *dds.Sample) {
			var m stdsrvs.SetBoolResponse
			fmt.Println("response", cdr.Unmarshal(r.Data, &m), m.Message)
		}); err != nil {
			return err
		}
		select {
		case _, more := <-lines:
			if !more {
				return nil
			}
			if err := callWhenThere(c, client); err != nil {
				return err
			}
		default:
		}
	}
}

func callWhenThere(c rmw.Context, client rmw.Client) error {
	for !client.Available() {
		if _, err := c.Wait(2*time.Millisecond, nil); err != nil {
			return err
		}
	}
	_, err := client.Send(setBool(true))
	return err
}

var (
	arm    = rmw.Service{Name: "/drone1/arm", Type: "std_srvs/srv/SetBool"}
	parent = rmw.Service{Name: "/parent", Type: "std_srvs/srv/SetBool"}
)

func setBool(v bool) []byte {
	b, _ := cdr.Marshal(&stdsrvs.SetBoolRequest{Data: v}) // has nothing that could fail
	return b
}

// answerAll answers every request with a message.
func answerAll(s rmw.Server, message string) error {
	b, err := cdr.Marshal(&stdsrvs.SetBoolResponse{Success: true, Message: message})
	if err != nil {
		return err
	}
	_, err2 := s.Take(10, func(id rmw.RequestID, _ *dds.Sample) { err = s.Respond(id, b) })
	if err == nil {
		err = err2
	}
	return err
}

// process is another process that prints lines.
type process struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
}

func start(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t, cmd, in, make(chan string, 100)}
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
		close(p.lines)
	}()
	t.Cleanup(func() {
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	return p
}

func startRole(t testing.TB, name string, p place) *process {
	t.Helper()
	at, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"="+name, "VND_RMW_PLACE="+string(at))
	return start(t, cmd)
}

const patience = 30 * time.Second

// line waits for the next line that begins with prefix, and calls work meanwhile.
func (p *process) line(prefix string, work func()) string {
	p.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		select {
		case line, more := <-p.lines:
			if !more {
				p.t.Fatalf("ended before %q", prefix)
			}
			if strings.HasPrefix(line, prefix) {
				return line
			}
		case <-time.After(2 * time.Millisecond):
			work()
		}
	}
	p.t.Fatalf("no %q within %v", prefix, patience)
	return ""
}

func idle() {}

// until waits on the context until a condition is true.
func until(t testing.TB, c rmw.Context, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); {
		if time.Now().After(end) {
			t.Fatalf("%s: not after %v; there are nodes %v, topics %v, services %v", what, patience,
				nodeNames(c), c.Graph().Topics(), c.Graph().Services())
		}
		if _, err := c.Wait(5*time.Millisecond, nil); err != nil {
			t.Fatal(err)
		}
	}
}

func nodeNames(c rmw.Context) []string {
	var names []string
	for _, n := range c.Graph().Nodes() {
		names = append(names, n.Namespace+"/"+n.Name)
	}
	return names
}

// TestProcesses: the nodes, topics and services of another process are in the graph, calls work
// both ways, and all are gone when it is killed.
func TestProcesses(t *testing.T) {
	at := newPlace()
	c, err := at.open("/", "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	n, err := c.NewNode("/", "parent")
	if err != nil {
		t.Fatal(err)
	}
	server, err1 := n.NewServer(parent, rmw.ServicesQoS(), "server")
	client, err2 := n.NewClient(arm, rmw.ServicesQoS(), "client")
	sub, err3 := n.NewSubscription(rmw.Topic{Name: "/drone1/chatter", Type: "std_msgs/msg/String"},
		rmw.StaticTFListenerQoS(), "sub")
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	talker := startRole(t, "talker", at)
	talker.line("ready", idle)
	want := []string{"//parent", "/drone1/_hidden", "/drone1/talker", "/drone1/twin", "/drone1/twin"}
	until(t, c, "all nodes", func() bool { return slices.Equal(nodeNames(c), want) })
	until(t, c, "the talker's endpoints", func() bool {
		of, err := c.Graph().Of(rmw.NodeName{Namespace: "/drone1", Name: "talker"})
		return err == nil && len(of.Servers["/drone1/arm"]) == 1 && len(of.Publishers["/drone1/chatter"]) == 1
	})
	checkTalker(t, c.Graph().Publishers("/drone1/chatter"))
	until(t, c, "the latched message", func() bool {
		n, _ := sub.Take(1, func(s *dds.Sample) {
			if string(s.Data[8:10]) != "hi" {
				t.Errorf("% x", s.Data)
			}
		})
		return n == 1
	})
	if got := call(t, c, client); got != fmt.Sprint("armed by ", talker.cmd.Process.Pid) {
		t.Errorf("response %q", got)
	}
	fmt.Fprintln(talker.in, "call")
	got := talker.line("response", func() {
		c.Wait(time.Millisecond, nil)
		if err := answerAll(server, "by the parent"); err != nil {
			t.Fatal(err)
		}
	})
	if got != "response <nil> by the parent" {
		t.Error(got)
	}
	if err := talker.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	until(t, c, "the talker gone", func() bool {
		g := c.Graph()
		return slices.Equal(nodeNames(c), want[:1]) && len(g.Publishers("/drone1/chatter")) == 0 && !client.Available()
	})
	if got := c.Graph().Services(); !cmp.Equal(got,
		map[string][]string{"/parent": {parent.Type}, "/drone1/arm": {arm.Type}}) {
		t.Errorf("services %v; of them only our own client's is left", got)
	}
}

// checkTalker compares the QoS that discovery carries with the talker's own.
func checkTalker(t *testing.T, pubs []rmw.Endpoint) {
	t.Helper()
	q := rmw.StaticTFBroadcasterQoS()
	if len(pubs) != 1 || pubs[0].Node.Name != "talker" || pubs[0].QoS.Durability != q.Durability ||
		pubs[0].QoS.Reliability != q.Reliability || pubs[0].QoS.Depth != q.Depth {
		t.Errorf("publishers %+v", pubs)
	}
}

// call calls /drone1/arm when it is available.
func call(t testing.TB, c rmw.Context, client rmw.Client) string {
	t.Helper()
	until(t, c, "availability", client.Available)
	sequence, err := client.Send(setBool(true))
	if err != nil {
		t.Fatal(err)
	}
	var m stdsrvs.SetBoolResponse
	until(t, c, "a response", func() bool {
		n, err := client.Take(1, func(n int64, r *dds.Sample) {
			if n != sequence {
				t.Errorf("response to %d, want %d", n, sequence)
			}
			if err := cdr.Unmarshal(r.Data, &m); err != nil {
				t.Errorf("%v in % x", err, r.Data)
			}
		})
		return n == 1 && err == nil
	})
	return m.Message
}
