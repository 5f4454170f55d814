package web

import (
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// A page that others can reach does nothing without its token; one for this machine alone asks for none.
func TestToken(t *testing.T) {
	open, here := config(), config()
	open.Address, open.Token = "0.0.0.0", "correct horse"
	drawn := open
	drawn.Token = ""
	shows := open
	shows.Controls = false
	for _, c := range []struct {
		name         string
		config       Config
		token, reply string
		done         bool
	}{
		{"this machine", here, "", "rolled back to first", true},
		{"none given", open, "", "the token is not right", false},
		{"a wrong one", open, "correct h", "the token is not right", false},
		{"the right one", open, "correct horse", "rolled back to first", true},
		{"one that was drawn", drawn, "*", "rolled back to first", true},
		{"none given where one was drawn", drawn, "", "the token is not right", false},
		{"no controls", shows, "correct horse", "this page only shows", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newStage(t, c.config)
			if c.token == "*" {
				if c.token = g.s.Token(); len(c.token) < 20 {
					t.Fatalf("token %q", c.token)
				}
			}
			v := g.view()
			g.fly(2)
			if h := v.next("hello"); h["token"] != (g.s.Token() != "") {
				t.Errorf("%v", h)
			}
			ask := `{"ask": "rollback", "token": "` + c.token + `"}`
			if err := v.c.Write(v.ctx, websocket.MessageText, []byte(ask)); err != nil {
				t.Fatal(err)
			}
			r := v.next("reply")
			if r["ok"] != c.done || !strings.Contains(r["text"].(string), c.reply) ||
				(g.asked.Load() == 1) != c.done || r["token"] != strings.Contains(c.reply, "token") {
				t.Errorf("%v, %d rollbacks", r, g.asked.Load())
			}
		})
	}
	open.Token = "short"
	if _, err := Listen(open, "quad", nil, Actions{}); err == nil || !strings.Contains(err.Error(), "page.token") {
		t.Error(err)
	}
}
