package cli

import (
	"bytes"
	"strings"
	"testing"

	"vnd/pkg/bridge/betaflight/sitl/sitltest"
)

// TestCampaignFliesFirmware flies a drop-out for ever, and a controller that stops, on Betaflight.
func TestCampaignFliesFirmware(t *testing.T) {
	sitltest.Folder(t)
	for run, says := range map[string]string{"44:0:3": "row 3b", "44:0:6": "row 32"} {
		t.Run(run, func(t *testing.T) {
			code, out, errs := replayed(t, run)
			if code != 0 || !strings.Contains(out, says) || strings.Contains(out, "FAIL") {
				t.Errorf("exit %d: %s%s", code, out, errs)
			}
		})
	}
}

func TestCampaignWithoutFirmwareSaysSo(t *testing.T) {
	t.Setenv("VND_BETAFLIGHT", t.TempDir())
	if code, _, errs := replayed(t, "44:0:3"); code == 0 || !strings.Contains(errs, "make betaflight builds it") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// replayed flies a run of the campaign.
func replayed(t *testing.T, run string) (code int, text, complaint string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Run(t.Context(), []string{"campaign", "--replay", run, "--bundle", "../flight/control/testdata/a.vnd",
		"--out", t.TempDir()}, &out, &errs)
	return code, out.String(), errs.String()
}
