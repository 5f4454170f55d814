package node_test

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/ros2/ros/securitytest"
)

// grants are the DDS topics that an enclave of the policy may publish and subscribe to, as sros2 derives them.
func (e *enclave) grants() (publish, subscribe string) {
	var out, in strings.Builder
	add := func(b *strings.Builder, prefix, ns, name, suffix string) {
		if !strings.HasPrefix(name, "/") {
			name = ns + "/" + name
		}
		fmt.Fprintf(b, "<topic>%s%s%s</topic>", prefix, name, suffix)
	}
	for _, p := range e.Profiles {
		for _, r := range p.Rules {
			for _, t := range r.Topics {
				if r.Publish != "" {
					add(&out, "rt", p.Namespace, t, "")
				} else {
					add(&in, "rt", p.Namespace, t, "")
				}
			}
			asked, answered := &in, &out
			if r.Request != "" {
				asked, answered = &out, &in
			}
			for _, s := range r.Services {
				add(asked, "rq", p.Namespace, s, "Request")
				add(answered, "rr", p.Namespace, s, "Reply")
			}
		}
	}
	const always = "<topic>ros_discovery_info</topic>"
	return always + out.String(), always + in.String()
}

// Under keys with the permissions of the policy, and no more, the robot hovers, takes orders and lands.
func TestFlightUnderThePolicy(t *testing.T) {
	var p policy
	if err := xml.Unmarshal(must(os.ReadFile(policyFile))(t), &p); err != nil {
		t.Fatal(err)
	}
	keys := securitytest.New(t)
	for _, e := range p.Enclaves {
		publish, subscribe := e.grants()
		keys.Grant(e.Path, publish, subscribe)
	}
	keys.Enclave("/everybody", securitytest.Everything)
	l := newLab(t, keys.Environment("/everybody")...)
	l.env = func(program string) []string { return keys.Environment("/quad/" + program) }
	file := must(filepath.Abs("../flight/control/testdata/a.vnd"))(t)
	l.start("latent_encoder", "-p", "use_sim_time:=true", "-p", "bundle_file:="+file)
	l.hovering()
	if r := l.task("hover", `{"kind": "hover", "point": [0.3, 0, 1]}`); !r.Success {
		t.Error(r.Message)
	}
	l.until("latents", func() bool { return len(l.latents) > 10 })
	if r := l.trigger("policy_controller/land"); !r.Success {
		t.Error(r.Message)
	}
}
