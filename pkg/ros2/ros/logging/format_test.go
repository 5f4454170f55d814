package logging

import (
	"strings"
	"testing"
	"time"
)

func TestFormat(t *testing.T) {
	r := record{1795228034975768409, Warn, "quad.fit", "late {name}", "vnd/fit.go", "main.run", 12}
	// The date is local time.
	local := time.Unix(0, r.time).Format("2006-01-02 15:04:05.000")
	for text, want := range map[string]string{
		"":                                 `[WARN] [1795228034.975768409] [quad.fit]: late {name}`,
		"{message}":                        `late {name}`,
		"no token":                         `no token`,
		"{severity}{severity}":             `WARNWARN`,
		"{time_as_nanoseconds}":            `1795228034975768409`,
		"{date_time_with_ms}":              local,
		"{file_name}:{line_number}":        `vnd/fit.go:12`,
		"({function_name}):":               `(main.run):`,
		"{unknown} {name}":                 `{unknown} quad.fit`,
		"{{name}}":                         `{quad.fit}`,
		"{name":                            `{name`,
		"}{":                               `}{`,
		"{}":                               `{}`,
		"{ name}":                          `{ name}`,
		`\x1b[1m{name}\t\n\q`:              "\x1b[1mquad.fit\t\n\\q",
		strings.Repeat("x", 2046) + "{ab}": strings.Repeat("x", 2046) + "{",
	} {
		t.Run(text, func(t *testing.T) {
			if got := string(newFormat(text).appendLine(nil, &r)); got != want {
				t.Errorf("%.40q:\n got %q\nwant %q", text, got, want)
			}
		})
	}
	early := record{time: 5}
	if got := string(newFormat("{time} {time_as_nanoseconds}").appendLine(nil,
		&early)); got != "0000000000.000000005 0000000000000000005" {
		t.Error(got)
	}
}

func FuzzFormat(f *testing.F) {
	for _, seed := range []string{defaultFormat, "{{name}", "}{", `\x1b\n{file_name}`, "{time"} {
		f.Add(seed)
	}
	r := record{1, Info, "n", "m", "f", "g", 1}
	f.Fuzz(func(t *testing.T, text string) {
		got := string(newFormat(text).appendLine(nil, &r))
		if text != "" && len(text) <= longestFormat && !strings.ContainsAny(text, `{\`) && got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
