package ros_test

import (
	"context"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"

	builtin "vnd/msgs/builtin_interfaces"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
	"vnd/pkg/ros2/ros/securitytest"
)

// Nodes with keys of one keystore communicate and authenticate each other, whatever the
// governance protects. A node without keys receives nothing.
func TestWireSecured(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"as sros2 writes it": func(rules string) string { return rules },
		"wholly encrypted":   func(rules string) string { return strings.ReplaceAll(rules, "SIGN", "ENCRYPT") },
		"submessages":        func(rules string) string { return strings.ReplaceAll(rules, "SIGN", "NONE") },
		"authenticated only": func(rules string) string {
			return strings.ReplaceAll(strings.ReplaceAll(rules, "SIGN", "NONE"), "ENCRYPT", "NONE")
		},
	} {
		t.Run(name, func(t *testing.T) {
			lab := securitytest.New(t)
			lab.Rules = change(securitytest.Governance)
			lab.Enclave("/watcher", securitytest.Everything)
			lab.Enclave("/probe", securitytest.Everything)
			receiveSecured(t, lab)
		})
	}
}

func receiveSecured(t *testing.T, lab *securitytest.Authority) {
	t.Helper()
	env := environment()
	for _, pair := range lab.Environment("") {
		key, value, _ := strings.Cut(pair, "=")
		env[key] = value
	}
	n := newNode(t, overTheWireIn(t, env, "--ros-args", "-e", "/watcher"), "watcher")
	spin(t, n.Context(), 0)
	out, _ := startProbe(t, nil, "--ros-args", "-r", "__node:=apart")
	if err := n.Context().WaitForGraph(within(t),
		func(rmw.Graph) bool { return strings.Contains(out.String(), "spinning") }); err != nil {
		t.Fatal(err)
	}
	startProbe(t, lab.Environment(""), "--ros-args", "-e", "/probe", "-r", "__ns:=/quad")
	from := make(chan rmw.GID, 1)
	must(ros.NewSubscription(n, "/quad/now", ros.DefaultQoS(), func(_ *builtin.Time, i ros.Info) {
		select {
		case from <- i.Publisher:
		default:
		}
	}))(t)
	r := ask[rclinterfaces.GetParametersRequest, rclinterfaces.GetParametersResponse](t, n,
		"/quad/probe/get_parameters",
		&rclinterfaces.GetParametersRequest{Names: []string{"gain"}})
	if len(r.Values) != 1 {
		t.Errorf("parameters: %+v", r)
	}
	speaker := receive(t, from)
	err := n.Context().WaitForGraph(within(t), func(g rmw.Graph) bool {
		of := g.Publishers("/quad/now")
		return len(of) == 1 && of[0].GID == speaker && of[0].Node == rmw.NodeName{Namespace: "/quad", Name: "probe",
			Enclave: "/probe"}
	})
	if err != nil {
		t.Errorf("%v says %+v, as %+v", err, speaker, n.Context().Graph().Publishers("/quad/now"))
	}
	if hasNode(n.Context().Graph(), "apart") {
		t.Error("one without keys is seen")
	}
}

// A node gets an error if it may not publish a topic, or its keys are not trusted.
func TestWireSecurityRefused(t *testing.T) {
	lab := securitytest.New(t)
	lab.Enclave("/mute", "<topic>ros_discovery_info</topic>")
	lab.Impostor("/stranger")
	for enclave, want := range map[string]string{
		"/mute":     "topic rt/rosout of type rcl_interfaces::msg::dds_::Log_: Cyclone DDS: not allowed by security\n",
		"/stranger": "participant: Error occurred while validating local permission: Certificate not valid",
	} {
		t.Run(enclave, func(t *testing.T) {
			got := refused(t, lab.Environment(enclave))
			if !strings.Contains(got, want) || strings.Count(got, "\n") != 1 {
				t.Errorf("%s: %q, want one line with %q", enclave, got, want)
			}
		})
	}
}

// remark is what Cyclone DDS logs of a participant of others that it does not let in.
var remark = regexp.MustCompile(`(?m)^.* Remote secure participant .* not allowed\n`)

// refused returns the error of a probe that must not start, in an environment. A tag of its
// own keeps out participants of other tests and probes; where one comes through, its line is left out.
func refused(t *testing.T, env []string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	tag := "vnd_refused_" + path.Base(t.Name())
	p := exec.CommandContext(ctx, os.Args[0])
	p.Env = append(append(append(os.Environ(), rostest.Environ()...), programVariable+"=probe",
		"ROS_LOG_DIR="+t.TempDir(),
		"CYCLONEDDS_URI="+strings.Replace(environment()["CYCLONEDDS_URI"], "vnd_test", tag, 1)),
		env...)
	out, err := p.CombinedOutput()
	if strings.Contains(string(out), "built without Cyclone DDS") {
		t.Skip(string(out))
	}
	if err == nil || ctx.Err() != nil {
		t.Errorf("%v: not refused: %v: %s", env, err, out)
	}
	return remark.ReplaceAllString(string(out), "")
}
