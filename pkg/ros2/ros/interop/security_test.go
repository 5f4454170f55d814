package interop

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	stdmsgs "vnd/msgs/std_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/securitytest"
)

// unlike is what ours says with keys where its Fast DDS may not be found by that of ROS.
const unlike = "find each other: colcon build"

// What caller says of the talker.
const (
	received = "received n"
	answered = "its service answers true"
	named    = "in the graph it is talker"
)

// caller receives /drone1/chatter, calls the service of its node and looks for that node in the graph.
func caller(n *ros.Node) error {
	if _, err := ros.NewSubscription(n, "/drone1/chatter", ros.DefaultQoS(), func(m *stdmsgs.String, _ ros.Info) {
		n.Log().Info().Msg("received " + m.Data)
	}); err != nil {
		return err
	}
	arm, err := ros.NewClient[stdsrvs.SetBoolRequest, stdsrvs.SetBoolResponse](n, "/drone1/arm")
	if err != nil {
		return err
	}
	go func() {
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		err := arm.WaitForService(ctx)
		if err == nil {
			var r *stdsrvs.SetBoolResponse
			if r, err = arm.Call(ctx, &stdsrvs.SetBoolRequest{Data: true}); err == nil {
				n.Log().Info().Msgf("its service answers %v", r.Success)
			}
		}
		if err == nil {
			err = n.Context().WaitForGraph(ctx, func(g rmw.Graph) bool {
				of := g.Publishers("/drone1/chatter")
				return len(of) == 1 && of[0].Node.Name == "talker"
			})
		}
		if err != nil {
			n.Log().Error().Err(err).Send()
			return
		}
		n.Log().Info().Msg(named)
	}()
	return nil
}

// unsecured are the words of libraries that have no keys, or not those of the other side.
var unsecured = []string{
	"doesn't have the security libraries",        // rmw_fastrtps_cpp, on a Fast DDS without security
	"does not have security support enabled",     // rmw_cyclonedds_cpp, on such a Cyclone DDS
	"here is built without security",             // ours, on such a Fast DDS
	"DDS Security: no libdds_security_",          // ours, on a Cyclone DDS without its plugins
	"PermissionsCA algorithm differs from local", // Fast DDS of before 2.14.5, beside one from then on
}

// withoutKeys returns the line in which a library says that it has no keys that the other side takes, "" for none.
func withoutKeys(output string) string {
	for line := range strings.Lines(output) {
		if slices.ContainsFunc(unsecured, func(words string) bool { return strings.Contains(line, words) }) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func TestWithoutKeys(t *testing.T) {
	for line, want := range map[string]bool{
		"Fast DDS: Remote participant PermissionsCA algorithm differs from local":                  true,
		"RCLError: error creating node: This Fast DDS version doesn't have the security libraries": true,
		"participant: Error occurred while validating local permission: Certificate not valid":     false,
		"SECURITY ERROR: directory '/keys/enclaves' does not exist.":                               false,
	} {
		if got := withoutKeys("before\n" + line + "\n"); (got == line) != want {
			t.Errorf("%q: %q", line, got)
		}
	}
}

// said tells whether a program has written all words.
func said(b *background, words ...string) bool {
	output := b.output.String()
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(output, w) })
}

// A node of rclpy with keys of the same keystore: graph, topic, service. Without keys, its
// tools see nothing. Where a library says that it has no such keys, that is why the test is skipped.
func TestSecured(t *testing.T) {
	p := withROS(t)
	lab := securitytest.New(t)
	lab.Enclave("/theirs", securitytest.Everything)
	lab.Enclave("/ours", securitytest.Everything)
	// ROS names the plugins without their folder, which Debian has apart.
	path := p.getenv("LD_LIBRARY_PATH")
	plugins, err := filepath.Glob("/usr/lib/*/libddsc*/libdds_security_auth.so")
	if err != nil {
		t.Fatal(err)
	}
	for _, plugin := range plugins {
		path += ":" + filepath.Dir(plugin)
	}
	open := append(p.env, "LD_LIBRARY_PATH="+path)
	p.env = slices.Concat(open, lab.Environment("/theirs"))
	theirs := p.rclpy("talker")
	p.env = slices.Concat(open, lab.Environment("/ours"))
	ours := p.start("caller")
	p.env = open
	for end := time.Now().Add(patience); !said(ours, received, answered, named); time.Sleep(100 * time.Millisecond) {
		if line := withoutKeys(theirs.output.String() + ours.output.String()); line != "" {
			theirs.interrupt()
			ours.interrupt()
			t.Skip("no keys that both sides take: ", line)
		}
		if time.Now().After(end) {
			if strings.Contains(ours.output.String(), unlike) {
				t.Skip("our Fast DDS and theirs do not announce themselves alike")
			}
			t.Fatalf("ours: %s\ntheirs: %s", ours.output, theirs.output)
		}
	}
	if got := p.shell("ros2 topic list --no-daemon"); strings.Contains(got, "chatter") ||
		!strings.Contains(got, "/rosout") {
		t.Errorf("without keys: %s", got)
	}
}
