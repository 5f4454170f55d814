package mcap

import (
	"math/rand/v2"
	"runtime"
	"testing"
)

// A writer keeps a few chunks in memory, and no more of a compressor than those need.
func TestWriterKeepsFewChunks(t *testing.T) {
	message := make([]byte, 1000)
	rng := rand.New(rand.NewPCG(1, 1))
	kept := func(codec string) float64 {
		live := func() float64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return float64(m.HeapAlloc)
		}
		before := live()
		w, err := NewWriter(sink{}, WriterOptions{Compression: codec})
		if err != nil {
			t.Fatal(err)
		}
		id := addChannel(t, w, "/a")
		for k := range 4 * DefaultChunkSize / len(message) {
			for i := range 100 {
				message[i] = byte(rng.Uint32())
			}
			if err := w.Write(id, uint32(k), uint64(k), uint64(k), message); err != nil {
				t.Fatal(err)
			}
		}
		after := live()
		runtime.KeepAlive(w)
		return (after - before) / DefaultChunkSize
	}
	for _, codec := range []string{None, LZ4, Zstd} {
		if n := kept(codec); n > 6 {
			t.Errorf("compression %q: %.1f chunks are kept, expected at most 6", codec, n)
		}
	}
}
