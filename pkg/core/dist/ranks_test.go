package dist_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/core/dist"
	"vnd/pkg/core/dist/disttest"
)

// Shares are disjoint runs in the order of the ranks, cover all pieces, and fit into `each`.
func TestShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size, n := rapid.IntRange(1, 9).Draw(t, "size"), rapid.IntRange(0, 40).Draw(t, "pieces")
		next := 0
		for _, g := range disttest.Threads(size) {
			lo, hi, each := dist.Share(g, n)
			if lo != next || hi < lo || hi-lo > each || (lo < hi && lo != g.Rank()*each) || each*size < n {
				t.Fatalf("rank %d of %d has %d … %d of %d pieces, %d each", g.Rank(), size, lo, hi, n, each)
			}
			next = hi
		}
		if next != n {
			t.Fatalf("%d of %d pieces are somebody's", next, n)
		}
	})
}

// Sums of any number of parts are the same to the bit on all ranks, for any number of these, also the second time.
func TestReductionOfParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size, n := rapid.IntRange(1, 9).Draw(t, "size"), rapid.IntRange(1, 17).Draw(t, "parts")
		parts := rapid.SliceOfN(rapid.Float32Range(-1, 1), n, n).Draw(t, "values")
		alone, exact := reduced(dist.Solo{}, parts), 0.
		for _, x := range parts {
			exact += float64(x)
		}
		if math.Abs(float64(alone[0])-exact) > 1e-5 || alone[1] != 2*alone[0] || alone[3] != alone[0] ||
			alone[5] != float32(n) {
			t.Fatalf("sums %v of %v, expected %g", alone, parts, exact)
		}
		for rank, v := range disttest.Run(size, func(g dist.Group) []float32 { return reduced(g, parts) }) {
			if !slices.Equal(v, alone) {
				t.Fatalf("rank %d of %d: %v, alone %v", rank, size, v, alone)
			}
		}
	})
}

// reduced are the sums of vectors made of parts, twice.
func reduced(g dist.Group, parts []float32) (out []float32) {
	s := dist.NewReduction(g, len(parts), 3, func(x, y []float32) {
		for i := range x {
			y[i] += x[i]
		}
	})
	lo, hi, _ := dist.Share(g, len(parts))
	for again := range 2 {
		for k := lo; k < hi; k++ {
			copy(s.Part(k), []float32{parts[k], 2 * parts[k], float32(again)})
		}
		v, err := s.Reduce(func(length int, do func(lo, hi int)) { do(0, 1); do(1, length) })
		if err != nil {
			panic(err)
		}
		out = append(out, v...)
	}
	return out
}

// counted notes how many bytes of each rank are exchanged.
type counted struct {
	dist.Group
	bytes *int
}

func (c counted) Allgather(all []byte) error {
	*c.bytes += len(all) / c.Size()
	return c.Group.Allgather(all)
}

// TestReductionSendsBranches: a rank sends sums of its parts, and not the parts.
func TestReductionSendsBranches(t *testing.T) {
	for _, c := range []struct{ ranks, parts, sent int }{{2, 16, 1}, {4, 16, 1}, {3, 16, 2}, {16, 16, 1}, {2, 3, 1},
		{5, 4, 1}} {
		bytes := disttest.Run(c.ranks, func(g dist.Group) (bytes int) {
			s := dist.NewReduction(counted{g, &bytes}, c.parts, 100, func(x, y []float64) {})
			if _, err := s.Reduce(func(length int, do func(lo, hi int)) { do(0, length) }); err != nil {
				panic(err)
			}
			return bytes
		})
		if bytes[0] != 800*c.sent {
			t.Errorf("%d ranks, %d parts: %d bytes, expected %d vectors of 800", c.ranks, c.parts, bytes[0], c.sent)
		}
	}
}

// met is what a rank sees after one exchange of each kind.
type met struct {
	floats []float64
	texts  []string
	first  map[string]float64
	err    error
}

func meet(g dist.Group) (m met) {
	m.floats = make([]float64, 2*g.Size())
	m.floats[2*g.Rank()], m.floats[2*g.Rank()+1] = float64(g.Rank()), math.Pi
	if m.err = dist.Floats(g, m.floats); m.err != nil {
		return m
	}
	if m.texts, m.err = dist.Gather(g, strings.Repeat("x", g.Rank())); m.err != nil {
		return m
	}
	m.first, m.err = dist.First(g, map[string]float64{"rank": float64(g.Rank()), "none": math.NaN()}, nil)
	return m
}

// All ranks see what each brought, of one length or of several.
func TestExchange(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		for rank, m := range disttest.Run(n, meet) {
			if m.err != nil {
				t.Fatal(m.err)
			}
			for r := range n {
				if m.floats[2*r] != float64(r) || m.floats[2*r+1] != math.Pi || m.texts[r] != strings.Repeat("x", r) {
					t.Errorf("rank %d of %d sees %v and %q of rank %d", rank, n, m.floats, m.texts, r)
				}
			}
			if m.first["rank"] != 0 || !math.IsNaN(m.first["none"]) {
				t.Errorf("rank %d has %v of rank 0", rank, m.first)
			}
		}
	}
}

// The first rank's error is that of all; its own has its type, elsewhere it says whose it is.
func TestAgree(t *testing.T) {
	for _, c := range []struct {
		errs [3]error
		want [3]string
	}{
		{[3]error{}, [3]string{}},
		{[3]error{nil, io.EOF, io.ErrNoProgress}, [3]string{"rank 1: EOF", "EOF", "rank 1: EOF"}},
		{[3]error{io.EOF, nil, io.EOF}, [3]string{"EOF", "rank 0: EOF", "rank 0: EOF"}},
		{[3]error{nil, nil, fmt.Errorf("stopped: %w", context.Canceled)},
			[3]string{"context canceled", "context canceled", "stopped: context canceled"}},
	} {
		for rank, err := range disttest.Run(3, func(g dist.Group) error { return dist.Agree(g, c.errs[g.Rank()]) }) {
			if text := fmt.Sprint(err); text != c.want[rank] && (err != nil || c.want[rank] != "") {
				t.Errorf("rank %d has %q, want %q", rank, text, c.want[rank])
			}
			if canceled := c.errs[2] != nil &&
				errors.Is(c.errs[2], context.Canceled); canceled != errors.Is(err, context.Canceled) {
				t.Errorf("rank %d: %v", rank, err)
			}
		}
	}
}

// Rank 0's error stops all before its value is asked for; other ranks' values do not matter.
func TestFirstFails(t *testing.T) {
	errs := disttest.Run(2, func(g dist.Group) error {
		var err error
		if g.Rank() == 0 {
			err = io.ErrUnexpectedEOF
		}
		_, err = dist.First(g, 1, err)
		return err
	})
	if !errors.Is(errs[0], io.ErrUnexpectedEOF) || errs[1] == nil || errs[1].Error() != "rank 0: unexpected EOF" {
		t.Error(errs)
	}
}

func TestAlike(t *testing.T) {
	for _, keys := range [][]string{{"a", "a", "a"}, {"a", "a", "b"}} {
		for rank, err := range disttest.Run(3, func(g dist.Group) error { return dist.Alike(g, keys[g.Rank()], nil) }) {
			if same := !slices.Contains(keys, "b"); same != (err == nil) || !same &&
				!strings.HasPrefix(err.Error(), "rank 2 does other work") {
				t.Errorf("keys %q, rank %d: %v", keys, rank, err)
			}
		}
	}
}

// A value that a rank cannot read is an error of that rank alone, and can be told from those of all.
func TestUnreadable(t *testing.T) {
	for what, exchange := range map[string]func(g dist.Group) error{
		"gather": func(g dist.Group) (err error) {
			if g.Rank() == 0 {
				_, err = dist.Gather(g, "text")
			} else {
				_, err = dist.Gather(g, 1.5)
			}
			return err
		},
		"first": func(g dist.Group) (err error) {
			if g.Rank() == 0 {
				_, err = dist.First(g, "text", nil)
			} else {
				_, err = dist.First(g, 1.5, nil)
			}
			return err
		},
		"gather what cannot be sent": func(g dist.Group) error {
			_, err := dist.Gather(g, func() {})
			return err
		},
	} {
		errs := disttest.Run(2, exchange)
		var own *dist.Error
		if !errors.As(errs[1], &own) || own.Rank != 1 || !strings.HasPrefix(errs[1].Error(), "rank 1: ") {
			t.Errorf("%s: %v", what, errs)
		}
	}
	for _, err := range disttest.Run(2, func(g dist.Group) error { return dist.Agree(g, io.EOF) }) {
		if errors.As(err, new(*dist.Error)) {
			t.Errorf("%v is an error of all", err)
		}
	}
}

// Sum is that of all, on all.
func TestSum(t *testing.T) {
	for rank, sum := range disttest.Run(3, func(g dist.Group) int {
		sum, err := dist.Sum(g, 1<<g.Rank())
		if err != nil {
			t.Error(err)
		}
		return sum
	}) {
		if sum != 7 {
			t.Errorf("rank %d has %d", rank, sum)
		}
	}
}

// Ranks that lost step with each other hear of it instead of taking one thing for another.
func TestLostStep(t *testing.T) {
	for rank, err := range disttest.Run(2, func(g dist.Group) error {
		return g.Allgather(make([]byte,
			2+2*g.Rank()))
	}) {
		if err == nil {
			t.Errorf("rank %d heard nothing", rank)
		}
	}
}
