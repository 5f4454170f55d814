package airframe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/core/param"
)

func TestLoadBesideRefusesAVehicleWrittenTwice(t *testing.T) {
	dir := t.TempDir()
	frame, lab := filepath.Join(dir, "frame.yaml"), filepath.Join(dir, "lab.yaml")
	write(t, frame, "airframe: {ros__parameters: {max_thrust: 15.0, guard: {ground: 0.5}, hover_throttle: 0.4}}")
	none := filepath.Join(dir, "none.yaml")
	for name, c := range map[string]struct {
		frame, lab, argument string
		warning, refused     string // a part of each
	}{
		"nothing beside it": {frame: frame, lab: "rate: 100.0"},
		"the same value":    {frame: frame, lab: "limits: {max_thrust: 15.0}"},
		"another limit": {frame: frame, lab: "limits: {max_thrust: 16.0}",
			refused: `lab.yaml:1: parameter "limits.max_thrust" is 16, and ` + frame + ` says 15: `},
		"another guard, old name": {frame: frame, lab: "guard: {gains: {lean: 0.4}}",
			refused: `"guard.gains.lean" is 0.4, and ` + frame + ` says 0.8`},
		"another throttle":        {frame: frame, lab: "hover_throttle: 0.5", refused: `"hover_throttle" is 0.5`},
		"an argument, which wins": {frame: frame, lab: "rate: 100.0", argument: "limits.max_thrust"},
		"no airframe's file": {lab: "limits: {max_thrust: 16.0}",
			warning: `lab.yaml:1: parameter "limits.max_thrust" is of the vehicle: write it into the airframe's file`},
		"no airframe's file, defaults": {lab: "limits: {max_thrust: 20.0}"},
		"a file that is not there":     {frame: none, lab: "rate: 100.0", refused: "parameter airframe: open " + none},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, lab, "/**/fly: {ros__parameters: {"+c.lab+"}}")
			said, err := param.Assignments(lab, "/quad/fly")
			if err != nil {
				t.Fatal(err)
			}
			if c.argument != "" {
				said = append(said, param.Argument(c.argument, 16., c.argument+":=16.0"))
			}
			_, warning, err := LoadBeside(c.frame, said)
			if (warning == "") != (c.warning == "") || !strings.Contains(warning, c.warning) {
				t.Errorf("warning %q, expected %q", warning, c.warning)
			}
			if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
				t.Errorf("error %v, expected %q", err, c.refused)
			}
		})
	}
}

// The guard knows how a vehicle responds that was measured, unless its own block says something else.
func TestTheGuardKnowsTheResponse(t *testing.T) {
	const measured = "response: {thrust_gain: 0.9, thrust_delay: 0.03, thrust_lag: 0.05, rate_gain: 1.0, " +
		"rate_delay: 0.04, rate_lag: 0.12}"
	for name, c := range map[string]struct {
		text            string
		delay, lag, own float64 // rate_delay, rate_lag, thrust_lag of the guard
	}{
		"nothing measured":              {"max_rate: 20.0", 0.025, 0.025, 0.03},
		"measured":                      {measured, 0.04, 0.12, 0.05},
		"measured, and the guard's own": {measured + ", guard: {response: {thrust_lag: 0.07}}", 0.025, 0.025, 0.07},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "frame.yaml")
			write(t, path, "airframe: {ros__parameters: {"+c.text+"}}")
			a, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if g := a.Guard.Response; g.RateDelay != c.delay || g.RateLag != c.lag || g.ThrustLag != c.own {
				t.Errorf("the guard believes in %+v", g)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
