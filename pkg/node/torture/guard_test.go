package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/flight/guard"
	"vnd/pkg/ros2/ros"
)

var sockets atomic.Int64

// startController starts a controller that begins by itself, and the guard beside it, where there is to be one.
func (f *field) startController(beside bool, parameters ...string) (controller, guard *process) {
	f.t.Helper()
	parameters = append(parameters, "autostart:=true", "diagnostic_updater.period:=0.2")
	if beside {
		parameters = append(parameters, "guard_process:=true",
			fmt.Sprintf("guard_socket:=vnd_torture_%d_%d", os.Getpid(), sockets.Add(1)))
		guard = f.start("flight_guard", parameters...)
	}
	return f.start("policy_controller", parameters...), guard
}

// pair is a controller and the guard beside it, in flight.
type pair struct {
	*field
	controller, guard *process
}

func newPair(t *testing.T) *pair {
	t.Helper()
	f := newField(t)
	p := &pair{field: f}
	file := "bundle_file:=" + bundleFile(t)
	p.controller, p.guard = f.startController(true, file)
	f.start("latent_encoder", file)
	f.start("quad_sim", "diagnostic_updater.period:=0.2")
	p.recovers("the start", 0)
	return p
}

// recovers waits until the policy flies again, of the steps from the i-th on. Where the robot has landed meanwhile, as
// the same cause twice a minute has it, it takes off.
func (p *pair) recovers(after string, i int) {
	p.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		stands, flies := false, false
		p.note(func() {
			flies = p.flies(i, 25) && p.place.Z > 0.5
			n := len(p.steps)
			stands = n > i && p.steps[n-1].stage == guard.Off && p.place.Z < 0.3
		})
		switch {
		case flies:
			return
		case stands:
			p.order("takeoff")
		}
		time.Sleep(50 * time.Millisecond)
		p.until("the robot is whole", func() bool { return true })
	}
	p.within(0, "flight under the policy after "+after, func() bool { return false })
}

// order calls a service by the name that users know. A refusal is waited out by who asks.
func (p *pair) order(name string) {
	c := must(ros.NewClient[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse](p.n, "/quad/policy_controller/"+name))(p.t)
	defer c.Close()
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	if c.WaitForService(ctx) == nil {
		_, _ = c.Call(ctx, &stdsrvs.TriggerRequest{})
	}
}

// stop stops a process for a while.
func (p *pair) stop(which *process, d time.Duration) {
	p.t.Helper()
	i := p.count()
	which.signal(syscall.SIGSTOP)
	time.Sleep(d)
	which.signal(syscall.SIGCONT)
	p.recovers(fmt.Sprintf("%s stopped for %v", which.name, d), i)
}

// strike kills a process, and starts it anew after a while.
func (p *pair) strike(which *process, after time.Duration) {
	p.t.Helper()
	which.kill()
	time.Sleep(after)
	i := p.count()
	which.again()
	p.recovers(fmt.Sprintf("%s killed, and back after %v", which.name, after), i)
}

// TestGuardBeside stops and kills controller and guard in flight: the robot stays inside the geofence and whole, and
// the policy flies again without a hand, or after a take-off.
func TestGuardBeside(t *testing.T) {
	if testing.Short() {
		t.Skip("four processes")
	}
	p := newPair(t)
	i := p.count()
	p.stop(p.controller, 300*time.Millisecond)
	p.until("the guard held", func() bool {
		for _, s := range p.steps[i:] {
			if s.stage.HoldsAuthority() {
				return true
			}
		}
		return false
	})
	p.strike(p.guard, 0)
	p.strike(p.controller, 0)
	if !long() {
		return
	}
	rng := rand.New(rand.NewPCG(3, 4))
	between := func(low, high float64) time.Duration {
		return time.Duration((low + rng.Float64()*(high-low)) * float64(time.Second))
	}
	for range 10 {
		for _, which := range []*process{p.controller, p.guard} {
			p.stop(which, between(.05, 5))
			p.strike(which, between(0, 3))
		}
	}
	p.starved(30 * time.Second)
}

// starved flies beside programs that want more than all of the machine.
func (p *pair) starved(d time.Duration) {
	p.t.Helper()
	i := p.count()
	for range 4 * runtime.NumCPU() {
		hog := exec.CommandContext(p.ctx, "sh", "-c", "while :; do :; done")
		if err := hog.Start(); err != nil {
			p.t.Fatal(err)
		}
		defer func() {
			_ = hog.Process.Kill()
			_ = hog.Wait()
		}()
	}
	time.Sleep(d)
	p.recovers("starvation", i)
}
