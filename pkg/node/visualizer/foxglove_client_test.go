package visualizer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/ros2/ros"
)

// foxgloves is Node with Foxglove's packages in VND_FOXGLOVE, which make test installs where npm is.
func foxgloves(t *testing.T, ctx context.Context, args ...string) *exec.Cmd {
	t.Helper()
	packages := filepath.Join(os.Getenv("VND_FOXGLOVE"), "node_modules")
	if _, err := os.Stat(filepath.Join(packages, "@foxglove")); os.Getenv("VND_FOXGLOVE") == "" || err != nil {
		t.Skip("VND_FOXGLOVE names no folder with Foxglove's client (make test installs it where npm is)")
	}
	cmd := exec.CommandContext(ctx, "node", append([]string{filepath.Join("testdata", "foxglove.cjs")}, args...)...)
	cmd.Env = append(os.Environ(), "NODE_PATH="+packages)
	return cmd
}

// seen is what Foxglove's client says it saw.
type seen struct {
	Channels, Services int
	Unread, Vehicle    []string
	Landed             *struct {
		Success bool
		Message string
	}
}

// look flies until Foxglove's client, which knows the token, has seen all that it looks for.
func (h *bench) look(protocol string) (saw seen) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.ctx, long)
	defer cancel()
	client := foxgloves(h.t, ctx, "ws"+h.v.page.URL()[len("http"):]+"?token=correct-horse", protocol)
	var out, complaints bytes.Buffer
	client.Stdout, client.Stderr = &out, &complaints
	if err := client.Start(); err != nil {
		h.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- client.Wait() }()
	for {
		select {
		case err := <-ended:
			if err = errors.Join(err, json.Unmarshal(out.Bytes(), &saw)); err != nil {
				h.t.Fatalf("%v: %s%s", err, &out, &complaints)
			}
			return saw
		default:
			h.fly(1)
		}
	}
}

// Foxglove's own client connects by either name of the protocol, its parser takes the definitions of every topic and
// service, and its decoders read what comes; it calls a service.
func TestFoxglovesOwnClient(t *testing.T) {
	for _, protocol := range []string{"foxglove.websocket.v1", "foxglove.sdk.v1"} {
		t.Run(protocol, func(t *testing.T) {
			h := newBench(t, "-p", "page.token:=correct-horse")
			land := func(_ *stdsrvs.TriggerRequest, a *stdsrvs.TriggerResponse) { a.Success, a.Message = true, "lands" }
			must(ros.NewService(h.n, "policy_controller/land", land))(t)
			saw := h.look(protocol)
			if len(saw.Unread) > 0 || !slices.Contains(saw.Vehicle, "thrust") || saw.Channels < 10 ||
				saw.Services < 10 || saw.Landed == nil || !saw.Landed.Success || saw.Landed.Message != "lands" {
				t.Errorf("Foxglove's client saw %+v", saw)
			}
		})
	}
}
