package link

import (
	"context"
	"encoding/binary"
	"math"
	"net"
	"slices"
	"testing"
	"time"

	"vnd/pkg/bridge/betaflight/msp"
	"vnd/pkg/bridge/betaflight/rates"
	"vnd/pkg/bridge/betaflight/sitl/sitltest"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// arrival is a frame of sticks that came over the wire.
type arrival struct {
	roll float64 // µs
	at   time.Time
}

// answering is a board on a TCP port that answers, arms where its switch is on, and tells when sticks came.
func answering(b *testing.B) (client net.Conn, sticks <-chan arrival) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	came := make(chan arrival, 1000)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		var d msp.Decoder
		status := make([]byte, 25)
		for part := make([]byte, 4096); ; {
			n, err := conn.Read(part)
			if err != nil {
				return
			}
			now := time.Now()
			d.Feed(part[:n], func(f *msp.Frame) {
				answer := msp.Frame{Direction: msp.Reply, Command: f.Command}
				switch f.Command {
				case msp.SetRawRC:
					status[6] = byte(binary.LittleEndian.Uint16(f.Payload[8:]) / 1800) // ARM, the first mode
					came <- arrival{float64(binary.LittleEndian.Uint16(f.Payload)), now}
				case msp.StatusEx:
					answer.Payload = status
				}
				out, err := answer.Append(nil)
				if err == nil {
					conn.Write(out)
				}
			})
		}
	}()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		b.Fatal(err)
	}
	return client, came
}

// BenchmarkCommandToStick is the time from a command to its sticks at the other end of MSP over TCP.
func BenchmarkCommandToStick(b *testing.B) {
	conn, sticks := answering(b)
	board := NewBoard(conn.(Port))
	defer board.Close()
	settings := Settings{Rates: rates.Linear(10), MinCheck: 1050, MSP: true,
		Arm: Switch{Channel: 4, On: 1900, Off: 1000}}
	p, err := NewCompanion(board, &settings, sitltest.Thrust(), Times{CommandTimeout: 1, ArmTimeout: 5}, 250)
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	}()
	took := make([]float64, 0, b.N)
	reach := func(rate float64) float64 {
		c := quad.Command{Thrust: quad.Gravity, Rates: so3.Vec3{X: rate}}
		want, _ := p.Sticks.Of(c, 0)
		began := time.Now()
		p.Command(c)
		for late := time.After(5 * time.Second); ; {
			select {
			case a := <-sticks:
				if math.Abs(a.roll-want[0]) < 5 {
					return float64(a.at.Sub(began)) / 1e6
				}
			case <-late:
				return math.Inf(1)
			}
		}
	}
	for p.Command(quad.Command{Thrust: quad.Gravity}); p.SetArmed(ctx, true) != nil; {
		time.Sleep(10 * time.Millisecond)
		p.Command(quad.Command{Thrust: quad.Gravity})
	}
	reach(1)
	b.ResetTimer()
	for i := range b.N {
		took = append(took, reach(2-4*float64(i%2)))
		time.Sleep(time.Duration(3+i%5) * time.Millisecond) // anywhere between two frames
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "p50-ms")
	b.ReportMetric(took[len(took)*99/100], "p99-ms")
	b.ReportMetric(0, "ns/op")
}
