//go:build cgo && !nocyclone

package overdds_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/rmw/overdds"
)

// crowdProcesses is more than the ten processes that Cyclone DDS has ports for without multicast and
// without overdds.Environment.
const (
	crowdProcesses = 11
	crowdNodes     = 5 // of each
)

// crowd is one process. It prints how long it took to discover all nodes, topics and services.
func crowd(p place) error {
	begin := time.Now()
	c, err := p.open("/", "")
	if err != nil {
		return err
	}
	defer c.Close()
	for i := range crowdNodes {
		name := fmt.Sprintf("crowd_%d_%d", os.Getpid(), i)
		n, err := c.NewNode("/", name)
		if err != nil {
			return err
		}
		_, err1 := n.NewPublisher(rmw.Topic{Name: "/" + name, Type: "std_msgs/msg/String"}, rmw.DefaultQoS(), nil)
		_, err2 := n.NewServer(rmw.Service{Name: "/" + name, Type: "std_srvs/srv/SetBool"}, rmw.ServicesQoS(), i)
		if err1 != nil || err2 != nil {
			return fmt.Errorf("%v, %v", err1, err2)
		}
	}
	ended := make(chan struct{})
	go func() {
		bufio.NewReader(os.Stdin).ReadByte()
		close(ended)
	}()
	const all = crowdProcesses * crowdNodes
	for known := false; ; {
		if _, err := c.Wait(20*time.Millisecond, nil); err != nil {
			return err
		}
		g := c.Graph()
		if !known && len(g.Nodes()) == all && len(g.Topics()) == all && len(g.Services()) == all {
			known = true
			fmt.Printf("all after %v\n", time.Since(begin).Round(time.Millisecond))
		}
		select {
		case <-ended:
			return nil
		default:
		}
	}
}

// TestCrowd: on a loopback without multicast, more processes than Cyclone DDS has ports for by
// itself discover each other's nodes.
func TestCrowd(t *testing.T) {
	interfaces, err := overdds.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{
		"ROS_LOCALHOST_ONLY": "1",
		"ROS_DOMAIN_ID":      fmt.Sprint(newPlace().Domain),
		"CYCLONEDDS_URI":     fmt.Sprintf("<Discovery><Tag>vnd_crowd_%d</Tag></Discovery>", os.Getpid()),
	}
	env, err := overdds.Environment(func(name string) string { return vars[name] }, interfaces)
	if err != nil {
		t.Fatal(err)
	}
	var all []*process
	for range crowdProcesses {
		all = append(all, startRole(t, "crowd", place{env.Domain, env.XML}))
	}
	var took []string
	for _, p := range all {
		took = append(took, strings.TrimPrefix(p.line("all after", idle), "all after "))
	}
	t.Logf("%d nodes in %d processes knew each other after %v", crowdProcesses*crowdNodes, crowdProcesses, took)
}
