package guardlink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// patience is for the first words of the other end.
const patience = 2 * time.Second

// Server is the guard's end. It has one controller at a time.
type Server struct {
	*Link
	listener *net.UnixListener
	check    func(*Hello) error
	report   func(string)
}

// Listen waits for controllers. check may refuse one, which report hears.
func Listen(address string, check func(*Hello) error, report func(string)) (*Server, error) {
	link, err := newLink()
	if err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Net: "unixpacket", Name: address})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: does another flight_guard of this robot run?", err), link.close())
	}
	s := &Server{Link: link, listener: l, check: check, report: report}
	go s.accept()
	return s, nil
}

func (s *Server) accept() {
	for {
		c, err := s.listener.AcceptUnix()
		if err != nil {
			return // closed
		}
		if err := s.welcome(c); err != nil {
			s.report(fmt.Sprintf("a controller is refused: %v", err))
			_ = c.Close()
		}
	}
}

// welcome checks who it is, and hands it to the thread.
func (s *Server) welcome(c *net.UnixConn) error {
	if err := sameUser(c); err != nil {
		return err
	}
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	h, err := readHello(c)
	if err != nil {
		return err
	}
	if err = s.check(h); err == nil && !s.taken.CompareAndSwap(false, true) {
		err = errors.New("another controller is there, and has not ended")
	}
	ours, answer := err == nil, Hello{}
	if err != nil {
		answer.Refused = err.Error()
	}
	if err := errors.Join(err, writeHello(c, &answer)); err != nil {
		if ours {
			s.taken.Store(false)
		}
		return err
	}
	s.newcomer.Store(c)
	s.Wake()
	return nil
}

func readHello(c *net.UnixConn) (*Hello, error) {
	data := make([]byte, maxMessage)
	n, err := c.Read(data)
	if err != nil {
		return nil, err
	}
	h := new(Hello)
	if n < 1 || kind(data[0]) != hello || json.Unmarshal(data[1:n], h) != nil {
		return nil, errMalformed
	}
	return h, nil
}

func writeHello(c *net.UnixConn, h *Hello) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	_, err = c.Write(append([]byte{byte(hello)}, text...))
	return err
}

// sameUser refuses processes of other users, but for those of root.
func sameUser(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var who *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		who, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil || failed != nil {
		return errors.Join(err, failed)
	}
	if who.Uid != 0 && int(who.Uid) != os.Getuid() {
		return fmt.Errorf("process %d is of user %d, expected %d", who.Pid, who.Uid, os.Getuid())
	}
	return nil
}

// Close ends the socket, when the thread has ended.
func (s *Server) Close() error { return errors.Join(s.listener.Close(), s.close()) }

// Client is the controller's end.
type Client struct {
	*Link
	address string
	hello   Hello
	trouble atomic.Pointer[string] // why there is no guard; nil: there is one
	stop    func()
	stopped chan struct{}
}

// Dial looks for the guard, again and again, until Close.
func Dial(address string, h Hello) (*Client, error) {
	link, err := newLink()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	c := &Client{Link: link, address: address, hello: h, stop: stop, stopped: make(chan struct{})}
	c.fail(errors.New("not there yet"))
	go c.run(ctx)
	return c, nil
}

func (c *Client) fail(err error) {
	text := err.Error()
	c.trouble.Store(&text)
}

func (c *Client) run(ctx context.Context) {
	defer close(c.stopped)
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for ctx.Err() == nil {
		if !c.taken.Load() {
			if err := c.connect(); err != nil {
				c.fail(err)
			} else {
				c.trouble.Store(nil)
			}
		}
		select {
		case <-ctx.Done():
		case <-again.C:
		}
	}
}

// connect asks the guard in, and hands the connection to the thread.
func (c *Client) connect() error {
	conn, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Net: "unixpacket", Name: c.address})
	if err != nil {
		return err
	}
	if err := c.greet(conn); err != nil {
		return errors.Join(err, conn.Close())
	}
	c.taken.Store(true)
	c.newcomer.Store(conn)
	c.Wake()
	return nil
}

func (c *Client) greet(conn *net.UnixConn) error {
	if err := sameUser(conn); err != nil {
		return err
	}
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if err := writeHello(conn, &c.hello); err != nil {
		return err
	}
	h, err := readHello(conn)
	if err != nil {
		return err
	}
	if h.Refused != "" {
		return fmt.Errorf("it refuses: %s", h.Refused)
	}
	return nil
}

// Trouble is why there is no guard; empty: there is one.
func (c *Client) Trouble() string {
	t := c.trouble.Load()
	switch {
	case t != nil:
		return *t
	case !c.taken.Load():
		return "it has ended"
	}
	return ""
}

// Close ends the connection, when the thread has ended.
func (c *Client) Close() error {
	c.stop()
	<-c.stopped
	return c.close()
}
