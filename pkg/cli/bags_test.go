package cli

import (
	"encoding/json"
	"math"
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// cut FILE BYTES: takes the last bytes off a file.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), info.Size()-n))
}

// samenumbers A B: two files hold the same JSON, numbers being equal to six digits.
func sameNumbers(ts *testscript.TestScript, neg bool, args []string) {
	var a, b any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &a))
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &b))
	if where := differs(a, b, ""); where != "" {
		ts.Fatalf("%s and %s differ at %s", args[0], args[1], where)
	}
}

// differs is the path of the first difference, or nothing.
func differs(a, b any, path string) string {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return path + " (keys)"
		}
		for k, v := range a {
			if d := differs(v, b[k], path+"."+k); d != "" {
				return d
			}
		}
		return ""
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return path + " (length)"
		}
		for i, v := range a {
			if d := differs(v, b[i], path+"["+strconv.Itoa(i)+"]"); d != "" {
				return d
			}
		}
		return ""
	case float64:
		if x, ok := b.(float64); ok && math.Abs(a-x) <= 1e-6*math.Max(math.Abs(a), math.Abs(x)) {
			return ""
		}
	}
	if a == b {
		return ""
	}
	return path
}
