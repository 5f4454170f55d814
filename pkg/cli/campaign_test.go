package cli

import (
	"bytes"
	"strings"
	"testing"

	"vnd/pkg/bridge/betaflight/sitl/sitltest"
)

// TestCampaignFliesFirmware flies a drop-out for ever, and a controller that stops, on Betaflight.
func TestCampaignFliesFirmware(t *testing.T) {
	if testing.Short() {
		t.Skip("flies for long")
	}
	sitltest.Folder(t)
	for run, says := range map[string]string{"44:0:3": "row 3b", "44:0:6": "row 32"} {
		t.Run(run, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := Run(t.Context(), []string{"campaign", "--replay", run, "--bundle",
				"../flight/control/testdata/a.vnd", "--out", t.TempDir()}, &out, &errs)
			if code != 0 || !strings.Contains(out.String(), says) || strings.Contains(out.String(), "FAIL") {
				t.Errorf("exit %d: %s%s", code, out.String(), errs.String())
			}
		})
	}
}
