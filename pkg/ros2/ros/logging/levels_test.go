package logging

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	"pgregory.net/rapid"

	rclinterfaces "vnd/msgs/rcl_interfaces"
)

func TestLevelServices(t *testing.T) {
	l := newLevels()
	var set rclinterfaces.SetLoggerLevelsResponse
	l.SetLoggerLevels(&rclinterfaces.SetLoggerLevelsRequest{Levels: []rclinterfaces.LoggerLevel{
		{Name: "quad.fit", Level: 10}, {Name: "quad", Level: 40}, {Name: "x", Level: 15}, {Name: "x", Level: 256 + 10},
		{Name: "", Level: 30},
	}}, &set)
	why := "Invalid severity level specified for logger named 'x': "
	want := []rclinterfaces.SetLoggerLevelsResult{{Successful: true}, {Successful: true},
		{Reason: why + "15, expected 0, 10, 20, 30, 40 or 50"}, {Reason: why + "266, expected 0, 10, 20, 30, 40 or 50"},
		{Successful: true}}
	if diff := cmp.Diff(want, set.Results); diff != "" {
		t.Error(diff)
	}
	var got rclinterfaces.GetLoggerLevelsResponse
	l.GetLoggerLevels(&rclinterfaces.GetLoggerLevelsRequest{Names: []string{"quad.fit", "quad.fit.encoder", "quad", "",
		"x"}}, &got)
	wantLevels := []rclinterfaces.LoggerLevel{{Name: "quad.fit", Level: 10}, {Name: "quad.fit.encoder"},
		{Name: "quad", Level: 40}, {Name: "", Level: 30}, {Name: "x"}}
	if diff := cmp.Diff(wantLevels, got.Levels); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]Level{"quad.fit": Debug, "quad.fit.encoder": Debug, "quad.other": Error,
		"quadro": Warn, "": Warn} {
		if got := l.Effective(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
	l.Set("", Unset)
	l.Set("quad", Unset)
	if a, b := l.Effective("quad.other"), l.Effective("quad.fit"); a != Info || b != Debug {
		t.Error(a, b)
	}
}

// TestThresholds: every change of a level applies to loggers in use.
func TestThresholds(t *testing.T) {
	name := rapid.StringMatching(`([ab](\.[ab]){0,2})?`)
	level := rapid.SampledFrom([]Level{Unset, Debug, Info, Warn, Error, Fatal})
	rapid.Check(t, func(t *rapid.T) {
		l, own := newLevels(), map[string]Level{}
		for range rapid.IntRange(1, 10).Draw(t, "changes") {
			n := name.Draw(t, "name")
			inUse := l.threshold(n)
			changed, to := name.Draw(t, "changed"), level.Draw(t, "level")
			l.Set(changed, to)
			own[changed] = to
			want := own[""]
			if want == Unset {
				want = Info
			}
			for i := range len(n) + 1 { // longer prefixes last
				if (i == len(n) || n[i] == '.') && i > 0 && own[n[:i]] != Unset {
					want = own[n[:i]]
				}
			}
			if got := Level(inUse.level.Load()); got != want || l.Effective(n) != want {
				t.Fatalf("%q with %v: %s and %s, want %s", n, own, got, l.Effective(n), want)
			}
		}
	})
}

func TestLevelOf(t *testing.T) {
	for l, want := range map[zerolog.Level]string{
		zerolog.TraceLevel: "DEBUG", zerolog.DebugLevel: "DEBUG", zerolog.InfoLevel: "INFO", zerolog.WarnLevel: "WARN",
		zerolog.ErrorLevel: "ERROR", zerolog.FatalLevel: "FATAL", zerolog.PanicLevel: "FATAL", zerolog.NoLevel: "INFO",
	} {
		if got := levelOf(l).String(); !strings.EqualFold(got, want) {
			t.Errorf("%s: %s", l, got)
		}
	}
}
