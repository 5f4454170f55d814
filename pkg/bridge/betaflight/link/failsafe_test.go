package link

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"vnd/pkg/bridge/betaflight/sitl/sitltest"
	"vnd/pkg/core/quad"
)

// cable is a port whose bytes do not arrive once it is pulled.
type cable struct {
	Port
	pulled atomic.Bool
}

// Write implements Port.
func (c *cable) Write(p []byte) (int, error) {
	if c.pulled.Load() {
		return len(p), nil
	}
	return c.Port.Write(p)
}

// repeats is how often each loss is tried: VND_SITL, or once.
func repeats() int {
	n, err := strconv.Atoi(os.Getenv("VND_SITL"))
	if err != nil {
		return 1
	}
	return n
}

// within holds the times that a failsafe took to what is allowed, simulated s.
func within(t *testing.T, took []float64) {
	t.Helper()
	const most = 0.5
	slices.Sort(took)
	last := took[len(took)-1]
	t.Logf("%d times: motors stop after %.2f to %.2f s", len(took), took[0], last)
	if last > most {
		t.Errorf("motors stop after %.3f s, want %g", last, most)
	}
}

func TestFirmwareFailsSafe(t *testing.T) {
	f := sitltest.New(t, 10)
	for _, c := range []struct {
		name string
		lose func(p *Companion, stopCommands, stopBridge func())
	}{
		{"where commands stop", func(_ *Companion, commands, _ func()) { commands() }},
		{"where the bridge ends", func(_ *Companion, _, bridge func()) { bridge() }},
		{"where the link is pulled", func(p *Companion, _, _ func()) { p.Board.port.(*cable).pulled.Store(true) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var took []float64
			for range repeats() {
				p, ctx, end := companion(t, f, 0.1)
				stop := command(p, quad.Command{Thrust: quad.Gravity})
				armed(t, p, ctx)
				f.Wait(t, "armed", sitltest.Turning)
				c.lose(p, stop, end)
				took = append(took, f.Wait(t, "the failsafe", sitltest.Still))
				stop()
				end()
			}
			within(t, took)
		})
	}
}

// variable is the board's address for a process of its own that flies it.
const variable = "VND_SITL_BOARD"

// TestProcess is none: it is the bridge's process of the test below.
func TestProcess(t *testing.T) {
	address := os.Getenv(variable)
	if address == "" {
		t.Skip("run by TestFirmwareFailsSafeWhereAProcessStops")
	}
	port, err := Open("tcp:"+address, MSP)
	if err != nil {
		t.Fatal(err)
	}
	b := NewBoard(port)
	s, err := b.Configure(10)
	if err != nil {
		t.Fatal(err)
	}
	times := Times{CommandTimeout: 0.1, PrearmTime: 0.2, ArmTimeout: 5}
	p, err := NewCompanion(b, &s, sitltest.Thrust(), times, 250)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	go func() {
		command(p, quad.Command{Thrust: quad.Gravity})
		armed(t, p, ctx)
	}()
	if err := p.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestFirmwareFailsSafeWhereAProcessStops kills and stops bridges. A stopped one that goes on arms no board anew.
func TestFirmwareFailsSafeWhereAProcessStops(t *testing.T) {
	if os.Getenv("VND_SITL") == "" {
		t.Skip("run by make sitl")
	}
	f := sitltest.New(t, 10)
	for _, c := range []struct {
		name   string
		signal syscall.Signal
	}{{"killed", syscall.SIGKILL}, {"stopped", syscall.SIGSTOP}} {
		t.Run(c.name, func(t *testing.T) {
			var took []float64
			for range repeats() {
				took = append(took, signalled(t, f, c.signal))
			}
			within(t, took)
		})
	}
}

// signalled sends a signal to a bridge that flies a board, and returns how long the motors turn on, simulated s.
func signalled(t *testing.T, f *sitltest.Firmware, signal syscall.Signal) float64 {
	t.Helper()
	bridge := exec.Command(os.Args[0], "-test.run", "^TestProcess$")
	bridge.Env = append(os.Environ(), variable+"="+f.Address())
	if err := bridge.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		bridge.Process.Kill()
		bridge.Wait()
	}()
	send := func(s syscall.Signal) {
		if err := bridge.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	f.Wait(t, "armed", sitltest.Turning)
	time.Sleep(200 * time.Millisecond)
	send(signal)
	took := f.Wait(t, "the failsafe", sitltest.Still)
	if signal == syscall.SIGSTOP {
		send(syscall.SIGCONT)
		time.Sleep(300 * time.Millisecond)
		if m, _ := f.Now(); !sitltest.Still(m) {
			t.Errorf("a process that goes on turns the motors: %v", m)
		}
	}
	return took
}
