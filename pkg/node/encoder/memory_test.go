package encoder

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	"vnd/pkg/core/so3"
	"vnd/pkg/node"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
)

// hover sends steps of a hover for some seconds, and waits for what is said of the condition.
func (h *harness) hover(id string, seconds float64, said <-chan map[string]string, holds func(map[string]string) bool) {
	h.t.Helper()
	for range int(seconds * 50) {
		h.tick.State.V = so3.Vec3{}
		h.send(id)
		select {
		case <-h.latents:
		case <-time.After(long):
			h.t.Fatal("no latent")
		}
	}
	var last map[string]string
	for deadline := time.After(long); ; {
		select {
		case last = <-said:
			if holds(last) {
				return
			}
		case <-deadline:
			h.t.Fatalf("not said in %v; the last was %v", long, last)
		}
	}
}

// conditions hears what is said of them.
func (h *harness) conditions() <-chan map[string]string {
	h.t.Helper()
	said := make(chan map[string]string, 1000)
	received := must(ros.NewSubscription(h.n, "condition", node.LatchedQoS(),
		func(m *diagnosticmsgs.DiagnosticStatus, _ ros.Info) {
			s := map[string]string{"name": m.Name, "message": m.Message, "level": fmt.Sprint(m.Level)}
			for _, v := range m.Values {
				s[v.Key] = v.Value
			}
			said <- s
		}))(h.t)
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	if err := ros.WaitForMatched(ctx, received, 1); err != nil {
		h.t.Fatal(err)
	}
	return said
}

// call names a condition.
func (h *harness) call(name string) *msgs.SetConditionResponse {
	h.t.Helper()
	c := must(ros.NewClient[msgs.SetConditionRequest, msgs.SetConditionResponse](h.n,
		"latent_encoder/name_condition"))(h.t)
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	if err := c.WaitForService(ctx); err != nil {
		h.t.Fatal(err)
	}
	return must(c.Call(ctx, &msgs.SetConditionRequest{Condition: name}))(h.t)
}

// A condition is new, is named, is kept in the file, and is seen before by the node that is started next.
func TestConditions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lab", "conditions.json")
	bundle := filepath.Join("..", "..", "flight", "control", "testdata", "a.vnd")
	start := func() (*harness, <-chan map[string]string) {
		h := newHarness(t, "--ros-args", "-p", "bundle_file:="+bundle, "-p", "conditions_file:="+file)
		return h, h.conditions()
	}
	id := read(t, "a.vnd").ID
	h, said := start()
	h.hover(id, 7, said, func(s map[string]string) bool {
		return s["message"] == "new: condition 1" && s["state"] == "new" && s["id"] == "1" && s["level"] == "1"
	})
	if r := h.call("7: x"); r.Success || !strings.Contains(r.Message, "there is no condition 7") {
		t.Errorf("%+v", r)
	}
	if r := h.call("calm"); !r.Success || r.Message != "condition 1 is calm" {
		t.Errorf("%+v", r)
	}
	h.hover(id, 1, said, func(s map[string]string) bool { return s["message"] == "new: calm" && s["label"] == "calm" })
	data := must(os.ReadFile(file))(t)
	if !json.Valid(data) || !strings.Contains(string(data), `{"id":1,"name":"calm","visits":1,`) {
		t.Errorf("%s", data)
	}

	h, said = start()
	h.hover(id, 7, said, func(s map[string]string) bool {
		return s["message"] == "seen before: calm (visit 2)" && s["state"] == "known" && s["level"] == "0" &&
			strings.HasPrefix(s["all"], `[{"id":1,"name":"calm","visits":2,`)
	})
}

// A file that is none is refused at the start, with its name.
func TestBadConditions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "conditions.json")
	if err := os.WriteFile(file, []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	c := must(ros.NewContext(ros.Options{Args: []string{"--ros-args", "--disable-external-lib-logs", "-p",
		"conditions_file:=" + file},
		Backend: ros.InProcess(inproc.NewDomain()), Getenv: func(string) string { return "" }, Stderr: io.Discard}))(t)
	defer c.Close()
	if _, err := New(c); err == nil || !strings.Contains(err.Error(),
		"parameter conditions_file: "+file+": format is 0, expected 1") {
		t.Errorf("%v", err)
	}
}
