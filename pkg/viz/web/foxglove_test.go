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

// Foxglove looks from this machine and its own site, and acts where the page may.
func TestFoxglove(t *testing.T) {
	here, open := config(), config()
	here.Origins = []string{"https://app.foxglove.dev"}
	open.Address, open.Token = "0.0.0.0", "correct horse"
	shows := here
	shows.Controls = false
	for _, c := range []struct {
		name          string
		config        Config
		query, origin string
		code          int
		acts          bool
	}{
		{"this machine", here, "", "", 101, true},
		{"Foxglove's site", here, "", "https://app.foxglove.dev", 101, true},
		{"Foxglove's program", here, "", "file://", 101, true},
		{"another site", here, "", "https://example.org", 403, false},
		{"a site without a name", here, "", "null", 403, false},
		{"no controls", shows, "", "", 101, false},
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
