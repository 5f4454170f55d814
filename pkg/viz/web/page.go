// Package web serves a live scene to browsers: one page, embedded, that asks the network for nothing else.
//
// It is for people near the robot: whoever reaches it may look. To act, one needs the token, unless the page is for
// this machine alone; Foxglove always needs it. Requests in the name of other sites are refused, by Host (against DNS
// rebinding) and by Origin.
package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"vnd/pkg/viz/foxglove"
	"vnd/pkg/viz/scene"
)

//go:embed static
var static embed.FS

// Config of a Server.
type Config struct {
	Address  string   `param:"address" default:"127.0.0.1" read_only:"true" doc:"of the network interface that serves the page; 0.0.0.0 serves every one, for phones, to whoever reaches this machine"`
	Port     int      `param:"port" default:"8042" min:"0" max:"65535" read_only:"true" doc:"TCP port of the page; 0 takes a free one"`
	Hosts    []string `param:"hosts" default:"" read_only:"true" doc:"names of this machine that browsers may use besides localhost and its addresses"`
	Origins  []string `param:"origins" default:"https://app.foxglove.dev" read_only:"true" doc:"pages that may show the flight by Foxglove's protocol, on this address and port, besides programs"`
	Controls bool     `param:"controls" default:"true" read_only:"true" doc:"roll back bundles and name conditions on the page, and call services by Foxglove with page.token; false: only show"`
	Token    string   `param:"token" default:"" read_only:"true" doc:"needed for Foxglove's calls, and for controls where others reach address; empty draws one for these, which the log has"`
}

// Actions are what the page can have done. The text says what came of it.
type Actions struct {
	Rollback func(ctx context.Context) (string, error)
	Name     func(ctx context.Context, condition string) (string, error) // as vnd/srv/SetCondition
	Graph    foxglove.Bus                                                // what Foxglove shows and calls; nil: nothing
}

// leastToken is the length of a token that cannot be guessed over the socket, where a wrong one takes a second.
const leastToken = 8

// Server serves one scene.
type Server struct {
	cfg     Config
	robot   string
	scene   *scene.Scene
	deeds   Actions
	http    http.Server
	l       net.Listener
	viewers atomic.Int32
	token   string // "": none is needed
	ended   chan struct{}
	once    sync.Once
}

// Listen begins to serve; robot is what the page is titled. The error is that of the address or the port.
func Listen(c Config, robot string, shown *scene.Scene, deeds Actions) (*Server, error) {
	if _, err := netip.ParseAddr(c.Address); err != nil {
		return nil, fmt.Errorf("parameter page.address is %.60q, expected an IP address such as 127.0.0.1", c.Address)
	}
	if n := len(c.Token); n > 0 && n < leastToken {
		return nil, fmt.Errorf("parameter page.token has %d characters, expected %d or more", n, leastToken)
	}
	address := net.JoinHostPort(c.Address, strconv.Itoa(c.Port))
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("parameter page.port: %s is in use by another program, such as another visualizer; "+
			"choose another port, or 0 for a free one", address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("parameter page.address: this machine has no address %s", c.Address)
	case err != nil:
		return nil, fmt.Errorf("parameters address and port: %w", err)
	}
	s := &Server{cfg: c, robot: robot, scene: shown, deeds: deeds, l: l, ended: make(chan struct{})}
	if c.Controls && s.Open() != "" {
		if s.token = c.Token; s.token == "" {
			s.token = rand.Text()
		}
	}
	s.http = http.Server{Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 1 << 14}
	go func() { _ = s.http.Serve(l) }() // until Close
	return s, nil
}

// URL of the page, for a browser on this machine where that can be.
func (s *Server) URL() string {
	a := s.l.Addr().(*net.TCPAddr)
	ip := a.IP
	if ip.IsUnspecified() {
		ip = net.IPv4(127, 0, 0, 1)
	}
	return "http://" + net.JoinHostPort(ip.String(), strconv.Itoa(a.Port)) + "/"
}

// Open is the address that others than this machine can reach; "" for none.
func (s *Server) Open() string {
	if a := s.l.Addr().(*net.TCPAddr); !a.IP.IsLoopback() {
		return a.String()
	}
	return ""
}

// Token is what a browser must give to have something done; "" where none is needed.
func (s *Server) Token() string { return s.token }

// allows reports whether what a browser gave is the token.
func (s *Server) allows(token string) bool {
	return s.token == "" || same(token, s.token)
}

// same compares tokens in a time that tells nothing of them but their length.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// Viewers counts the browsers that look.
func (s *Server) Viewers() int { return int(s.viewers.Load()) }

// Close ends the service, also to those that look.
func (s *Server) Close() (err error) {
	s.once.Do(func() {
		close(s.ended)
		err = s.http.Close()
	})
	return err
}

func (s *Server) handler() http.Handler {
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // the name of an embedded folder
	}
	mux := http.NewServeMux()
	page := http.FileServerFS(files)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		if s.deeds.Graph != nil && isFoxglove(r) {
			s.foxglove(w, r)
			return
		}
		page.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /live", s.live)
	return s.guarded(mux)
}

// guarded refuses requests in the name of others.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.known(r.Host) {
			http.Error(w, fmt.Sprintf("host %.60q is refused: ask for localhost or an address of this machine, or "+
				"add the name to the visualizer's parameter page.hosts", r.Host), http.StatusForbidden)
			return
		}
		origin := r.Header.Get("Origin")
		if origin != "" && !own(origin, r.Host) && !(isFoxglove(r) && s.visits(origin)) {
			http.Error(w, fmt.Sprintf("origin %.60q is refused: this page answers to itself alone", origin),
				http.StatusForbidden)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri "+
			"'none'; form-action 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		next.ServeHTTP(w, r)
	})
}

// known reports whether a Host is this machine's. An address is: no DNS can point it elsewhere.
func (s *Server) known(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if _, err := netip.ParseAddr(name); err == nil || name == "localhost" {
		return true
	}
	return slices.ContainsFunc(s.cfg.Hosts, func(h string) bool { return h != "" && strings.EqualFold(h, name) })
}

// own reports whether an Origin is that of the page itself.
func own(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, host)
}
