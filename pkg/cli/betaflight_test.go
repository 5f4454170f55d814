package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/bridge/betaflight/sitl/sitltest"
)

func TestBetaflightProvisionWritesLinesForTheUser(t *testing.T) {
	f := sitltest.New(t, 10) // sticks for 10 rad/s, where the airframe's 6 rad/s are 350 °/s
	file := filepath.Join(t.TempDir(), "board.txt")
	var out, errs bytes.Buffer
	code := Run(t.Context(), []string{"betaflight", "provision", "--port", "tcp:" + f.Address(), "--out", file}, &out,
		&errs)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	if want := "roll_srate: 58 → 35 (as the rate of the centre)"; !strings.Contains(out.String(), want) {
		t.Errorf("%s\nwant %s", out.String(), want)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# roll_srate is 58: as the rate of the centre\nset roll_srate = 35\n", "\nsave\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s\nwant %s", text, want)
		}
	}
}

func TestBetaflightWithoutABoard(t *testing.T) {
	var out, errs bytes.Buffer
	code := Run(t.Context(), []string{"betaflight", "check", "--port", "/dev/none"}, &out, &errs)
	if code == 0 || !strings.Contains(errs.String(), "no board at /dev/none") {
		t.Errorf("exit %d: %s", code, errs.String())
	}
}
