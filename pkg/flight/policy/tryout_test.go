package policy

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vnd/pkg/core/param"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd/bundle"
)

// spoilt is a bundle with another last layer of its policy.
func spoilt(good *bundle.Bundle, change func(i, actions int, weight bool, x float32) float32) *bundle.Bundle {
	bad := *good
	bad.ID, bad.Tensors = "", slices.Clone(good.Tensors)
	for k := range bad.Tensors {
		x := &bad.Tensors[k]
		if !strings.HasPrefix(x.Name, "policy.head.") {
			continue
		}
		x.Data = slices.Clone(x.Data)
		for i := range x.Data {
			x.Data[i] = change(i, 4, x.Name == "policy.head.w", x.Data[i])
		}
	}
	return &bad
}

// TestTryOutRefusesWhatCannotFly: bundles that were trained hold a point, those that were broken do not.
func TestTryOutRefusesWhatCannotFly(t *testing.T) {
	for _, name := range []string{"a.vnd", "b.vnd"} {
		good, err := bundle.Read(filepath.Join("..", "control", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := TryOut(good); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %v", name, time.Since(began))
		for what, change := range map[string]func(i, actions int, weight bool, x float32) float32{
			"reversed rates": func(i, actions int, weight bool, x float32) float32 {
				if i%actions > 0 {
					return -x
				}
				return x
			},
			"too little thrust": func(i, actions int, weight bool, x float32) float32 {
				if !weight && i == 0 {
					return x - 20
				}
				return x
			},
		} {
			err := TryOut(spoilt(good, change))
			if err == nil || !strings.Contains(err.Error(), "cannot hold a point") {
				t.Errorf("%s, %s: error %v", name, what, err)
			}
		}
	}
}

// TestTryOutOfMotors: a policy that commands motors holds a point in the airframe that it was trained for, not with its
// motors exchanged, and not in another airframe.
func TestTryOutOfMotors(t *testing.T) {
	good, err := bundle.Read(filepath.Join("..", "control", "testdata", "motors.vnd"))
	if err != nil {
		t.Fatal(err)
	}
	exchanged := spoilt(good, func(i, actions int, _ bool, x float32) float32 { return x })
	for k := range exchanged.Tensors {
		x := &exchanged.Tensors[k]
		for i := 0; strings.HasPrefix(x.Name, "policy.head.") && i < len(x.Data); i += 4 {
			x.Data[i], x.Data[i+2] = x.Data[i+2], x.Data[i]
		}
	}
	nimble := func(a *rotors.Airframe) {
		for i := range a.Inertia {
			a.Inertia[i] /= 10
		}
	}
	for name, c := range map[string]struct {
		bundle *bundle.Bundle
		change func(a *rotors.Airframe)
		want   string // "": it flies
	}{
		"its airframe":     {good, func(*rotors.Airframe) {}, ""},
		"a lighter one":    {good, func(a *rotors.Airframe) { a.Mass *= 0.9 }, ""},
		"a nimble one":     {good, nimble, "expected a policy for the rotors of the airframe's file"},
		"motors exchanged": {exchanged, func(*rotors.Airframe) {}, "cannot hold a point"},
		"thrust and rates": {packed(t, "quadrotor", somePolicy(t, 3)), nimble, "vnd train --robot rotors"},
	} {
		t.Run(name, func(t *testing.T) {
			var a rotors.Airframe
			param.Default(&a)
			c.change(&a)
			if err := TryOutMotors(c.bundle, &a); (err == nil) != (c.want == "") ||
				err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, expected %q", err, c.want)
			}
		})
	}
}
