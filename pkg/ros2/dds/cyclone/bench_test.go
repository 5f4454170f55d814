//go:build cgo && !nocyclone

package cyclone

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"vnd/pkg/ros2/dds"
)

// benchQoS is that of the yardstick.
var benchQoS = dds.QoS{Reliability: dds.Reliable, Depth: 10, MaxBlocking: time.Second}

func benchSample() []byte {
	sample := make([]byte, 104) // a PoseStamped
	sample[1] = 1
	return sample
}

// BenchmarkWrite writes where nobody reads.
func BenchmarkWrite(b *testing.B) {
	p := open(b, Config{Domain: 60, XML: loopback(newTag(), wireDomain)})
	w := newWriter(b, p, bytesTopic("bench"), benchQoS)
	sample := benchSample()
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Write(sample, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWriteTake writes and takes within a process.
func BenchmarkWriteTake(b *testing.B) {
	for _, size := range []int{104, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			p := open(b, Config{Domain: 61, XML: loopback(newTag(), wireDomain)})
			w, r := newWriter(b, p, bytesTopic("bench"), benchQoS), newReader(b, p, bytesTopic("bench"), benchQoS)
			eventually(b, "a match", func() bool { return w.Status().Matched == 1 && r.Status().Matched == 1 })
			sample := make([]byte, size)
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				if err := w.Write(sample, 0); err != nil {
					b.Fatal(err)
				}
				if n, err := r.Take(1, func(*dds.Sample) {}); n != 1 || err != nil {
					b.Fatal(n, err)
				}
			}
		})
	}
}

// BenchmarkTakeNothing is a look at an empty reader.
func BenchmarkTakeNothing(b *testing.B) {
	p := open(b, Config{Domain: 62, XML: loopback(newTag(), wireDomain)})
	r := newReader(b, p, bytesTopic("bench"), benchQoS)
	b.ReportAllocs()
	for b.Loop() {
		if n, err := r.Take(1, func(*dds.Sample) {}); n != 0 || err != nil {
			b.Fatal(n, err)
		}
	}
}

// BenchmarkRoundTrip sends 104 bytes to another process and back, at 1 kHz, in turns of
// a tenth of a second with a program in C (testdata/bench). The program waits in a
// thread of its own, as we do, or answers in the listener, which users should not do.
// It reports microseconds at p50 and p99, and the ratio to C.
func BenchmarkRoundTrip(b *testing.B) {
	program := filepath.Join(b.TempDir(), "roundtrip")
	if out, err := exec.Command("gcc", "-O2", "-I.", "-I../native", "-DDDS_NDEBUG", "-o", program,
		"testdata/bench/roundtrip.c", "blob.c", "-lddsc", "-lpthread").CombinedOutput(); err != nil {
		b.Fatalf("gcc: %v\n%s", err, out)
	}
	pings := []struct {
		name string
		ping func(n int) []float64
		all  []float64
	}{{"go", ours(b), nil}, {"c", yardstick(b, program, "waitset"), nil}, {"c-inline",
		yardstick(b, program, "listener"), nil}}
	const turns, each = 50, 100
	for range turns {
		for i := range pings {
			pings[i].all = append(pings[i].all, pings[i].ping(each)...)
		}
	}
	for _, p := range []int{50, 99} {
		for _, c := range pings {
			b.ReportMetric(percentile(c.all, p), fmt.Sprintf("%s-p%d-µs", c.name, p))
		}
		b.ReportMetric(percentile(pings[0].all, p)/percentile(pings[1].all, p), fmt.Sprintf("go/c-p%d", p))
	}
	b.ReportMetric(0, "ns/op")
}

func percentile(all []float64, p int) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)*p/100]
}

// yardstick starts the program in C twice and returns what has it measure.
func yardstick(b *testing.B, program, mode string) func(n int) []float64 {
	b.Helper()
	xml := loopback(newTag(), wireDomain)
	started(b, "echo in C", exec.Command(program, "echo", mode, xml))
	ping := exec.Command(program, "ping", mode, xml)
	stdin, err := ping.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := ping.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := ping.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		ping.Process.Kill()
		ping.Wait()
	})
	lines := bufio.NewScanner(stdout)
	line := func() string {
		if !lines.Scan() {
			b.Fatalf("ping in C: %v", lines.Err())
		}
		return lines.Text()
	}
	line() // "ready"
	return func(n int) []float64 {
		fmt.Fprintln(stdin, n)
		var all []float64
		for range n {
			ns, err := strconv.ParseFloat(line(), 64)
			if err != nil {
				b.Fatal(err)
			}
			all = append(all, ns/1000)
		}
		return all
	}
}

// ours starts an echo and returns what measures ours, in microseconds.
func ours(b *testing.B) func(n int) []float64 {
	b.Helper()
	xml := loopback(newTag(), wireDomain)
	other(b, "echo", xml)
	p := open(b, Config{Domain: 63, XML: xml})
	w, r := newWriter(b, p, bytesTopic("ping"), benchQoS), newReader(b, p, bytesTopic("pong"), benchQoS)
	eventually(b, "the echo is there", func() bool { return w.Status().Matched == 1 && r.Status().Matched == 1 })
	ready := make([]dds.Ready, 0, 8)
	sample := benchSample()
	return func(n int) []float64 {
		var all []float64
		next := time.Now()
		for range n {
			next = next.Add(time.Millisecond)
			time.Sleep(time.Until(next))
			begun := time.Now()
			if err := w.Write(sample, 0); err != nil {
				b.Fatal(err)
			}
			for taken := 0; taken == 0; {
				if _, err := p.Wait(-1, ready); err != nil {
					b.Fatal(err)
				}
				var err error
				if taken, err = r.Take(10, func(*dds.Sample) {}); err != nil {
					b.Fatal(err)
				}
			}
			all = append(all, float64(time.Since(begun).Nanoseconds())/1000)
		}
		return all
	}
}
