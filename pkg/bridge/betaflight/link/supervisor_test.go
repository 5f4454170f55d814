package link

import (
	"math"
	"strings"
	"testing"

	"vnd/pkg/bridge/betaflight/msp"
)

// moment is what is seen, and what is to come of it.
type moment struct {
	seen  Seen
	order string // before it: arm, disarm
	want  State
	sends Sends
}

// hold has a supervisor meet a moment.
func (m *moment) hold(t *testing.T, i int, s *Supervisor) {
	t.Helper()
	switch m.order {
	case "arm":
		if err := s.Arm(&m.seen); err != nil {
			t.Fatal(err)
		}
	case "disarm":
		s.Disarm()
	}
	if got := s.Step(&m.seen); s.State() != m.want || got != m.sends {
		t.Errorf("moment %d: %s, %+v, want %s, %+v", i, s.State(), got, m.want, m.sends)
	}
}

var (
	none     = math.Inf(-1)
	rest     = Sends{Frame: true}
	switchOn = Sends{Frame: true, Arm: true}
	flies    = Sends{Frame: true, Arm: true, Follow: true}
)

func board(now, command float64, armed bool) Seen {
	return Seen{Now: now, Command: command, Known: true, Armed: armed}
}

func locked(now float64, also msp.Flags) Seen {
	return Seen{Now: now, Command: now, Known: true, Why: msp.ArmSwitch | also}
}

// story is what a supervisor meets.
type story struct {
	name    string
	prearms bool
	moments []moment
}

func (c *story) hold(t *testing.T) {
	t.Run(c.name, func(t *testing.T) {
		s := Supervisor{Times: Times{CommandTimeout: 0.1, PrearmTime: 0.2, ArmTimeout: 2}, Prearms: c.prearms}
		for i := range c.moments {
			c.moments[i].hold(t, i, &s)
		}
	})
}

func TestSupervisor(t *testing.T) {
	for _, c := range []story{
		{"waits for the board", false, []moment{
			{Seen{Now: 0, Command: none}, "", Unknown, Sends{}}, {board(1, none, false), "", Idle, rest}}},
		{"leaves a board alone that someone else armed", false, []moment{
			{board(0, none, true), "", Foreign, Sends{}}, {board(1, 1, true), "", Foreign, Sends{}},
			{board(2, 2, false), "", Idle, rest}, {board(3, 3, true), "", Foreign, Sends{}}}},
		{"arms, flies and disarms", false, []moment{
			{board(0, 0, false), "", Idle, rest}, {board(0.1, 0.1, false), "arm", Arming, switchOn},
			{board(0.2, 0.2, true), "", Flying, flies}, {board(0.3, 0.3, true), "disarm", Idle, rest}}},
		{"prearms first", true, []moment{
			{board(0, 0, false), "", Idle, rest},
			{board(0.1, 0.1, false), "arm", Prearm, Sends{Frame: true, Prearm: true}},
			{board(0.35, 0.3, false), "", Arming, Sends{Frame: true, Prearm: true, Arm: true}},
			{board(0.4, 0.4, true), "", Flying, Sends{Frame: true, Prearm: true, Arm: true, Follow: true}}}},
		{"is silent on old commands and goes on while the board is armed", false, []moment{
			{board(0, 0, false), "", Idle, rest}, {board(0, 0, false), "arm", Arming, switchOn},
			{board(0.1, 0.1, true), "", Flying, flies}, {board(0.21, 0.1, true), "", Silent, Sends{}},
			{board(0.3, 0.3, true), "", Flying, flies}}},
		{"is disarmed where the failsafe was", false, []moment{
			{board(0, 0, false), "", Idle, rest}, {board(0, 0, false), "arm", Arming, switchOn},
			{board(0.1, 0.1, true), "", Flying, flies}, {board(0.21, 0.1, true), "", Silent, Sends{}},
			{board(0.6, 0.1, false), "", Idle, rest}, {board(0.7, 0.7, false), "", Idle, rest}}},
		{"leaves the switch off until the board is ready", true, []moment{
			{board(0, 0, false), "", Idle, rest},
			{Seen{Now: 0.1, Command: 0.1, Known: true, Why: 1<<2 | msp.NoPrearm}, "arm", Idle, rest},
			{Seen{Now: 0.2, Command: 0.2, Known: true, Why: msp.NoPrearm}, "", Prearm,
				Sends{Frame: true, Prearm: true}}}},
		{"gives up on a board that does not arm", false, []moment{
			{board(0, 0, false), "", Idle, rest}, {board(0, 0, false), "arm", Arming, switchOn},
			{board(2.1, 2.1, false), "", Idle, rest}}},
	} {
		c.hold(t)
	}
}

func TestSupervisorArmsByOrderAlone(t *testing.T) {
	for _, c := range []story{
		{"takes the switch back from a board that locked it, and arms", false, []moment{
			{board(0, 0, false), "", Idle, rest}, {board(0, 0, false), "arm", Arming, switchOn},
			{locked(0.02, 0), "", Idle, rest}, {locked(0.04, 0), "", Idle, rest},
			{board(0.1, 0.1, false), "", Idle, rest},
			{board(0.24, 0.24, false), "", Arming, switchOn}, {board(0.3, 0.3, true), "", Flying, flies}}},
		{"gives up on a board that stays locked", false, []moment{
			{board(0, 0, false), "", Idle, rest}, {board(0, 0, false), "arm", Arming, switchOn},
			{locked(0.02, 0), "", Idle, rest}, {locked(2.1, 0), "", Idle, rest},
			{board(2.2, 2.2, false), "", Idle, rest}}},
		{"has the order's time for all tries", false, []moment{
			{board(0, 0, false), "", Idle, rest}, {board(0, 0, false), "arm", Arming, switchOn},
			{locked(1.5, 0), "", Idle, rest}, {board(1.8, 1.8, false), "", Arming, switchOn},
			{board(2, 2, false), "", Idle, rest}}},
		{"asks no board again that stopped its motors", false, []moment{
			{board(0, 0, false), "", Idle, rest}, {board(0, 0, false), "arm", Arming, switchOn},
			{locked(0.3, msp.RunawayTakeoff), "", Idle, rest}, {board(0.6, 0.6, false), "", Idle, rest}}},
		{"arms no board without commands", true, []moment{
			{board(0, 0, false), "", Idle, rest},
			{board(0.1, 0.1, false), "arm", Prearm, Sends{Frame: true, Prearm: true}},
			{board(0.25, 0.1, false), "", Idle, rest}, {board(0.5, 0.5, false), "", Idle, rest}}},
		{"follows no old command", false, []moment{
			{board(0, 0, false), "", Idle, rest}, {board(0, 0, false), "arm", Arming, switchOn},
			{board(0.2, 0, true), "", Idle, rest}}},
		{"sends off until the board is off", false, []moment{
			{board(0, 0, false), "", Idle, rest}, {board(0, 0, false), "arm", Arming, switchOn},
			{board(0.1, 0.1, true), "", Flying, flies}, {board(0.2, 0.2, true), "disarm", Idle, rest},
			{board(0.3, 0.3, true), "", Idle, rest}, {board(1.1, 1.1, true), "", Idle, rest},
			{board(1.3, 1.3, true), "", Foreign, Sends{}}}},
		{"waits for a board that says nothing", false, []moment{
			{board(0, 0, false), "", Idle, rest},
			{Seen{Now: 0.1, Command: 0.1, Known: true, Why: 1}, "arm", Idle, rest},
			{Seen{Now: 0.2, Command: 0.2}, "", Idle, rest}, {board(0.3, 0.3, false), "", Arming, switchOn}}},
	} {
		c.hold(t)
	}
}

func TestArmingIsRefusedInWords(t *testing.T) {
	s := Supervisor{Times: Times{CommandTimeout: 0.1, ArmTimeout: 2}}
	x := Seen{Known: true, Command: math.Inf(-1), Why: msp.Flags(1<<7 | 1<<12)}
	if err := s.Arm(&x); err == nil || !strings.Contains(err.Error(), "waits for the board") {
		t.Error(err)
	}
	s.Step(&x)
	if err := s.Arm(&x); err == nil || !strings.Contains(err.Error(), "no command") {
		t.Error(err)
	}
	x.Command = 0
	if err := s.Arm(&x); err != nil {
		t.Fatal(err)
	}
	s.Step(&x)
	x.Now, x.Command = 3, 3
	s.Step(&x)
	if err := s.Arm(&Seen{Now: 3, Command: 3}); err == nil || !strings.Contains(err.Error(), "does not say") {
		t.Error(err)
	}
	if want := "the board does not arm: throttle is not low; gyroscope calibrates"; s.Refusal() != want {
		t.Errorf("%q, want %q", s.Refusal(), want)
	}
}

func TestSupervisorLeavesTheOperatorInControl(t *testing.T) {
	follow := Sends{Frame: true, Follow: true}
	board := func(now, command float64, override bool) Seen {
		return Seen{Now: now, Command: command, Known: true, Armed: true, Override: override}
	}
	s := Supervisor{Times: Times{CommandTimeout: 0.1, ArmTimeout: 2}, Overrides: true}
	silent := func(now, command float64) Seen { return Seen{Now: now, Command: command} }
	for i, m := range []moment{
		{silent(0, 0), "", Unknown, Sends{}},
		{board(0, math.Inf(-1), false), "", ByHand, rest},
		{board(1, 1, false), "", ByHand, follow}, // so that the first frame that counts is new
		{board(2, 2, true), "", Flying, follow},
		{board(3, 2.8, true), "", Resting, rest},
		{board(4, 4, true), "", Flying, follow},
		{silent(5, 5), "", Flying, follow},
		{silent(6, 5), "", Resting, rest},
		{board(7, 7, false), "", ByHand, follow},
		{silent(8, 8), "", ByHand, follow},
	} {
		m.hold(t, i, &s)
	}
	x := board(9, 9, false)
	if err := s.Arm(&x); err == nil || !strings.Contains(err.Error(), "the pilot arms") {
		t.Error(err)
	}
}
