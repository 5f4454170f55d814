package interop

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	stdmsgs "vnd/msgs/std_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/ros2/dds/fastdds"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
)

// speaker is a foreign program that sends strings on one topic and prints those of another.
type speaker struct {
	t     *testing.T
	stdin io.Closer
	cmd   *exec.Cmd
	lines chan string
}

func (p *place) speaker(cmd *exec.Cmd) *speaker {
	p.t.Helper()
	s := &speaker{t: p.t, cmd: cmd, lines: make(chan string, 1000)}
	cmd.Env, cmd.Dir = p.env, p.work
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		p.t.Fatal(err1, err2)
	}
	s.stdin = stdin
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(stdout)
		for lines.Buffer(nil, 1<<20); lines.Scan(); {
			select {
			case s.lines <- lines.Text():
			default: // nobody waits any more
			}
		}
	}()
	p.t.Cleanup(func() {
		stdin.Close()
		<-read
		if err := cmd.Wait(); err != nil {
			p.t.Error(err)
		}
	})
	return s
}

// converse checks that the foreign program and our node receive each other's messages.
func (p *place) exchange(s *speaker, n *ros.Node, what string) {
	p.t.Helper()
	received := collect[stdmsgs.String](p.t, n, "/to_go", ros.DefaultQoS())
	pub := must(ros.NewPublisher[stdmsgs.String](n, "/from_go", ros.DefaultQoS()))(p.t)
	for _, want := range []string{what + " ", what + " "} {
		until(p.t, received, "a message of "+what,
			func(m stdmsgs.String) bool { return strings.HasPrefix(m.Data, want) })
	}
	if err := ros.WaitForMatched(within(p.t), pub, 1); err != nil {
		p.t.Fatal(err)
	}
	publishUntil(p.t, pub, s, what)
	const long = "a string of more than one datagram "
	for _, text := range []string{"x", "", strings.Repeat(long, 100), strings.Repeat(long, 2000)} {
		if err := pub.Publish(&stdmsgs.String{Data: text}); err != nil {
			p.t.Fatal(err)
		}
		until(p.t, s.lines, fmt.Sprintf("%s to hear %d bytes", what, len(text)),
			func(line string) bool { return line == text })
	}
}

// publishUntil publishes until the foreign program receives: it may match later than we do.
func publishUntil(t *testing.T, pub *ros.Publisher[stdmsgs.String], s *speaker, what string) {
	t.Helper()
	end := time.After(patience)
	for {
		if err := pub.Publish(&stdmsgs.String{Data: "knock"}); err != nil {
			t.Fatal(err)
		}
		select {
		case <-s.lines:
			return
		case <-time.After(100 * time.Millisecond):
		case <-end:
			t.Fatalf("%s hears nothing", what)
		}
	}
}

// tool is a program that the test needs.
func tool(t *testing.T, name, from string) string {
	t.Helper()
	requireInterop(t)
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no %s here: %s", name, from)
	}
	return path
}

// Topics, both ways, with a plain program on Fast DDS.
func TestFastDDS(t *testing.T) {
	tool(t, "g++", "apt-get install g++")
	if _, err := os.Stat("/usr/include/fastdds/dds/domain/DomainParticipant.hpp"); err != nil {
		t.Skip("no Fast DDS here: apt-get install libfastrtps-dev")
	}
	p := newPlace(t)
	peer := filepath.Join(p.work, "peer")
	out, err := exec.Command("g++", "-std=c++17", "-o", peer, "testdata/fastdds/peer.cpp", "-lfastrtps", "-lfastcdr",
		"-lpthread").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.env = append(p.env, "CYCLONEDDS_URI="+loopback("")) // Fast DDS knows no tags
	s := p.speaker(exec.Command(peer, p.getenv("ROS_DOMAIN_ID"), "rt/to_go", "rt/from_go"))
	p.exchange(s, p.node("fast_peer"), "fast")
}

// Services, both ways, with a plain program on Fast DDS that has them as rmw_fastrtps does:
// three calls of ours, and ours of its.
func TestFastServices(t *testing.T) {
	tool(t, "g++", "apt-get install g++")
	if err := fastdds.Installed(); err != nil {
		t.Skip(err)
	}
	p := newPlace(t)
	program := filepath.Join(p.work, "service")
	out, err := exec.Command("g++", "-std=c++17", "-o", program, "testdata/fastdds/service.cpp", "-lfastrtps",
		"-lfastcdr", "-lpthread").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	domain := fmt.Sprint(201 + os.Getpid()%30) // Fast DDS knows no tags
	p.env = append(p.env, "ROS_DOMAIN_ID="+domain, "RMW_IMPLEMENTATION="+rmw.FastDDS,
		"ROS_LOCALHOST_ONLY=1", "ROS_DISTRO=humble") // as the program has it
	n := p.node("fast_peer")
	must(ros.NewService(n, "/quad/arm",
		func(r *stdsrvs.SetBoolRequest, a *stdsrvs.SetBoolResponse) {
			a.Success, a.Message = r.Data, fmt.Sprint("armed ", r.Data)
		}))(t)
	caller := p.speaker(exec.Command(program, domain, "call"))
	for _, want := range []string{"answer 1 armed true", "answer 0 armed false", "answer 1 armed true"} {
		until(t, caller.lines, want, func(line string) bool { return line == want })
	}
	p.speaker(exec.Command(program, domain, "serve"))
	c := must(ros.NewClient[stdsrvs.SetBoolRequest, stdsrvs.SetBoolResponse](n, "/quad/disarm"))(t)
	if err := c.WaitForService(within(t)); err != nil {
		t.Fatal(err)
	}
	for _, on := range []bool{true, false} {
		r, err := c.Call(within(t), &stdsrvs.SetBoolRequest{Data: on})
		if err != nil || r.Success != on || r.Message != "fast" {
			t.Errorf("disarm %v: %+v, %v", on, r, err)
		}
	}
}

// namespaceVariable is set in the test's own network namespace; it names the foreign program.
const namespaceVariable = "VND_INTEROP_NAMESPACE"

// namespace makes an interface with multicast, and runs a command.
const namespace = "ip link set lo up && ip link add net0 type veth peer name net1 && ip link set net1 up && ip link " +
	"set net0 up && " +
	"ip address add 10.0.0.1/24 dev net0 && ip route add 224.0.0.0/4 dev net0 && exec \"$@\""

// A node of ros2-client, which is RustDDS, for Humble: topics both ways, and its name. It
// finds others by multicast alone, so the test runs itself in a network namespace.
func TestRust(t *testing.T) {
	if peer := os.Getenv(namespaceVariable); peer != "" {
		p := newPlace(t)
		p.env = append(p.env, "CYCLONEDDS_URI=", "ROS_DOMAIN_ID=0") // ros2-client asks for none
		s := p.speaker(exec.Command(peer))
		n := p.node("go_peer")
		p.exchange(s, n, "rust")
		err := n.Context().WaitForGraph(within(t), func(g rmw.Graph) bool {
			return slices.ContainsFunc(g.Nodes(), func(n rmw.NodeName) bool {
				return n.Namespace == "/rust" &&
					n.Name == "peer"
			})
		})
		if err != nil {
			t.Error(err)
		}
		return
	}
	tool(t, "cargo", "Rust 1.85 or newer, from https://rustup.rs")
	tool(t, "unshare", "apt-get install util-linux")
	tool(t, "ip", "apt-get install iproute2")
	source, err := filepath.Abs("testdata/rust")
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(os.Getenv("VND_BUILD"), "rust")
	if out, err := exec.Command("cargo", "build", "--quiet", "--locked", "--manifest-path",
		filepath.Join(source, "Cargo.toml"), "--target-dir", target).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	inner := exec.Command("unshare", "--net", "sh", "-c", namespace, "sh", os.Args[0], "-test.run=^TestRust$",
		"-test.v")
	inner.Env = append(os.Environ(), namespaceVariable+"="+filepath.Join(target, "debug", "peer"))
	out, err := inner.CombinedOutput()
	if strings.Contains(string(out), "Operation not permitted") {
		t.Skip("no network namespace without being root")
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
