package web

import (
	"fmt"
	"strings"
	"testing"

	"vnd/msgs"
)

func TestPageHasTheStagesOfStep(t *testing.T) {
	text, err := static.ReadFile("static/main.js")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("STAGE = { policy: %d, limited: %d, hold: %d, land: %d, blind: %d, off: %d, notOffboard: %d }",
		msgs.StepGuardPolicy, msgs.StepGuardLimited, msgs.StepGuardHold, msgs.StepGuardLand, msgs.StepGuardBlind,
		msgs.StepGuardOff, msgs.StepGuardNotOffboard)
	if !strings.Contains(string(text), want) {
		t.Errorf("main.js has no %s", want)
	}
}
