package web

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// emptyGraph has nothing.
type emptyGraph struct{}

func (emptyGraph) Topics() map[string]string   { return nil }
func (emptyGraph) Services() map[string]string { return nil }
func (emptyGraph) Subscribe(string, string, func([]byte, int64)) (io.Closer, error) {
	return nil, nil
}
func (emptyGraph) Call(context.Context, string, string, []byte) ([]byte, error) { return nil, nil }

// Foxglove looks from this machine and its own site, and acts with the token that was set, and with nothing else.
func TestFoxglove(t *testing.T) {
	here := config()
	here.Origins, here.Token = []string{"https://app.foxglove.dev"}, "correct horse"
	open, shows, unset := here, here, here
	open.Address = "0.0.0.0"
	shows.Controls = false
	unset.Token = ""
	for _, c := range []struct {
		name          string
		config        Config
		query, origin string
		code          int
		acts          bool
	}{
		{"this machine", here, "", "", 101, false},
		{"this machine, the token", here, "?token=correct+horse", "", 101, true},
		{"this machine, a wrong token", here, "?token=correct+h", "", 403, false},
		{"this machine, none set", unset, "", "", 101, false},
		{"this machine, none set but one given", unset, "?token=correct+horse", "", 403, false},
		{"Foxglove's site", here, "?token=correct+horse", "https://app.foxglove.dev", 101, true},
		{"Foxglove's program", here, "?token=correct+horse", "file://", 101, true},
		{"a program", here, "", "file://", 101, false},
		{"an extension of a browser", unset, "", "chrome-extension://abc", 101, false},
		{"another site", here, "", "https://example.org", 403, false},
		{"a site without a name", here, "", "null", 403, false},
		{"no controls", shows, "?token=correct+horse", "", 101, false},
		{"open, no token", open, "", "", 101, false},
		{"open, a wrong token", open, "?token=wrong", "", 403, false},
		{"open, the token", open, "?token=correct+horse", "", 101, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newStage(t, c.config)
			ctx := t.Context()
			header := http.Header{}
			if c.origin != "" {
				header.Set("Origin", c.origin)
			}
			conn, r, err := websocket.Dial(ctx, g.s.URL()+c.query, &websocket.DialOptions{HTTPHeader: header,
				Subprotocols: []string{"foxglove.sdk.v1"}})
			if r == nil || r.StatusCode != c.code {
				t.Fatalf("%v, %v", r, err)
			}
			if c.code != http.StatusSwitchingProtocols {
				return
			}
			defer conn.CloseNow()
			_, data, err := conn.Read(ctx)
			if err != nil || strings.Contains(string(data), `["services"]`) != c.acts {
				t.Errorf("%s, %v", data, err)
			}
		})
	}
}

// Whoever guesses takes the place of a viewer, so that guesses do not run beside each other without end.
func TestFoxgloveGuessesAreViewers(t *testing.T) {
	c := config()
	c.Token = "correct horse"
	g := newStage(t, c)
	g.s.viewers.Store(mostViewers)
	defer g.s.viewers.Store(0)
	_, r, err := websocket.Dial(t.Context(), g.s.URL()+"?token=wrong", &websocket.DialOptions{
		Subprotocols: []string{"foxglove.sdk.v1"}})
	if r == nil || r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%v, %v", r, err)
	}
}
