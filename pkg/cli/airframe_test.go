package cli

import (
	"os"
	"path/filepath"
	"testing"

	"vnd/pkg/flight/policy"
	"vnd/pkg/sim/experiment"
	"vnd/pkg/vnd/bundle"
)

// A vehicle's file reaches the training of a policy, the loop and the reading of bags; nodes: pkg/node.
func TestAirframeFileReachesTrainingLoopAndBags(t *testing.T) {
	dir := t.TempDir()
	frame, base := filepath.Join(dir, "frame.yaml"), filepath.Join(dir, "base.vnd")
	if err := os.WriteFile(frame, []byte("airframe: {ros__parameters: {max_thrust: 15.0, hover_throttle: 0.42, "+
		"max_rate: 12.5, response: {thrust_gain: 0.9, thrust_lag: 0.1, rate_gain: 1.0, rate_lag: 0.03}}}"),
		0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := run(t, "train", "--task", "hover", "--airframe", frame, "-p", "epochs:=2", "-p", "flights:=0",
		"-p", "envs:=4", "-p", "horizon:=20", "--out", base); code != 0 {
		t.Fatal(stderr)
	}
	b, err := bundle.Read(base)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := policy.FromBundle(b); err != nil || p.Limits.MaxThrust != 15 {
		t.Errorf("the trained policy is %+v, %v", p, err)
	}
	c, err := enlist(defaults[experiment.Config](), frame, "hover", 1)
	if err != nil || c.Limits.MaxThrust != 15 || c.Nominal.Gain < 0.099 || c.Nominal.MaxLag < 0.129 {
		t.Errorf("the loop has %+v, %v", c, err)
	}
	o, err := recordings{airframe: frame, window: 20}.options()
	if err != nil || o.Limits.Rate != 12.5 || o.HoverThrottle != 0.42 {
		t.Errorf("bags are read with %+v, %v", o, err)
	}
}
