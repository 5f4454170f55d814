package policy

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vnd/pkg/vnd/bundle"
)

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
			if err := TryOut(&bad); err == nil || !strings.Contains(err.Error(), "cannot hold a point") {
				t.Errorf("%s, %s: error %v", name, what, err)
			}
		}
	}
}
