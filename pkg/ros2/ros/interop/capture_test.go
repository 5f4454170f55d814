package interop

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Wireshark's dissector of RTPS finds no error in the packets of two of our processes:
// discovery, a topic, services of parameters, a clean end.
func TestDissector(t *testing.T) {
	tshark := tool(t, "tshark", "apt-get install tshark")
	if out, err := exec.Command(tshark, "-q", "-i", "lo", "-a", "duration:1", "-w",
		"/dev/null").CombinedOutput(); err != nil {
		t.Skipf("tshark may not capture here: %s", out)
	}
	p := newPlace(t)
	first := 7400 + 250*domain()
	file := filepath.Join(p.work, "capture.pcapng")
	capture := exec.Command(tshark, "-q", "-i", "lo", "-w", file, "-f",
		fmt.Sprintf("udp portrange %d-%d", first, first+249))
	if err := capture.Start(); err != nil {
		t.Fatal(err)
	}
	packets := func(filter string) int {
		// An error means that the last packet is not complete yet.
		out, _ := exec.Command(tshark, "-r", file, "-Y", filter, "-T", "fields", "-e", "frame.number").Output()
		return strings.Count(string(out), "\n")
	}
	waitFor(t, "the capture", func() bool {
		info, err := os.Stat(file)
		return err == nil && info.Size() > 0
	})
	talker := p.start("talker", "--ros-args", "-r", "__ns:=/drone1")
	n := p.node("tool")
	names := "gain ids name use_sim_time"
	if newer() {
		names = "gain ids name start_type_description_service use_sim_time"
	}
	parametersOf(t, n, names)
	talker.stop()
	if err := n.Context().Close(); err != nil {
		t.Error(err)
	}
	waitFor(t, "the last packets in the file",
		func() bool { return packets(`rtps.param.topicName == "rt/drone1/chatter"`) > 0 })
	capture.Process.Kill()
	capture.Wait()
	// At the end, Cyclone DDS wakes its own threads with datagrams of a few octets.
	if rtps, other := packets("rtps"), packets("udp && !rtps && udp.length > 12"); rtps < 100 || other != 0 {
		t.Errorf("%d packets of RTPS, %d others", rtps, other)
	}
	if bad := packets("_ws.malformed || _ws.expert.severity >= 6291456"); bad != 0 { // warnings and errors
		out, _ := exec.Command(tshark, "-r", file, "-Y", "_ws.malformed || _ws.expert.severity >= 6291456",
			"-V").Output()
		t.Errorf("%d packets that the dissector complains of\n%.20000s", bad, out)
	}
	for _, topic := range []string{"rt/drone1/chatter", "rq/drone1/talker/get_parametersRequest",
		"rr/drone1/talker/get_parametersReply", "ros_discovery_info", "rt/rosout"} {
		if packets(fmt.Sprintf("rtps.param.topicName == %q", topic)) < 1 {
			t.Errorf("the dissector sees no endpoint of %s", topic)
		}
	}
}

func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not come", what)
		}
	}
}
