// Package dist lets several processes do one work together: each does its share, and all see what came of the whole.
//
// The processes run the same program on the same input, so that most of what they know they know alike; what one alone
// knows, its share of the work, its clock, its errors, its files, goes through a Group.
package dist

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"unsafe"
)

// Group is the processes of one work, told apart by their rank, 0 … Size−1. All call the same methods in the same
// order, from one goroutine each.
type Group interface {
	Rank() int
	Size() int
	// Allgather takes a buffer of Size equal parts, of which part Rank is filled, and fills the others. An error of one
	// rank alone is an *Error.
	Allgather(all []byte) error
}

// Error is one on this rank alone: the others may not know of it, and wait for this one elsewhere. All other errors of
// this package are those of all ranks.
type Error struct {
	Rank int
	Err  error
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("rank %d: %v", e.Rank, e.Err) }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// Solo is a process alone.
type Solo struct{}

// Rank implements Group.
func (Solo) Rank() int { return 0 }

// Size implements Group.
func (Solo) Size() int { return 1 }

// Allgather implements Group: its only part is filled.
func (Solo) Allgather([]byte) error { return nil }

// Share cuts n pieces of work into one run for each rank, of each = ⌈n/Size⌉ pieces, the last ones of fewer or none:
// nobody could have less to do than `each`, and so piece k lies at k in a buffer for all, with space for Size·each.
// Pieces lo … hi−1 are this rank's.
func Share(g Group, n int) (lo, hi, each int) {
	each = (n + g.Size() - 1) / g.Size()
	return min(g.Rank()*each, n), min((g.Rank()+1)*each, n), each
}

// Floats is Allgather of numbers. The ranks' processors keep them in the same byte order.
func Floats[F float32 | float64](g Group, all []F) error {
	if g.Size() == 1 || len(all) == 0 {
		return nil
	}
	return g.Allgather(unsafe.Slice((*byte)(unsafe.Pointer(&all[0])), len(all)*int(unsafe.Sizeof(all[0]))))
}

// Gather returns every rank's value, in the order of the ranks. A value is what encoding/gob can carry.
func Gather[T any](g Group, mine T) ([]T, error) {
	if g.Size() == 1 {
		return []T{mine}, nil
	}
	packed, err := pack(mine)
	if err != nil {
		return nil, &Error{g.Rank(), err}
	}
	parts, err := gather(g, packed)
	if err != nil {
		return nil, err
	}
	values := make([]T, len(parts))
	for rank, p := range parts {
		if err := unpack(p, &values[rank]); err != nil {
			return nil, &Error{g.Rank(), fmt.Errorf("rank %d sent something else than expected: %w", rank, err)}
		}
	}
	return values, nil
}

func pack(value any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(value)
	return b.Bytes(), err
}

func unpack(packed []byte, to any) error { return gob.NewDecoder(bytes.NewReader(packed)).Decode(to) }

// gather returns every rank's bytes, of whatever length.
func gather(g Group, mine []byte) ([][]byte, error) {
	const word = 8
	lengths := make([]byte, word*g.Size())
	binary.LittleEndian.PutUint64(lengths[word*g.Rank():], uint64(len(mine)))
	if err := g.Allgather(lengths); err != nil {
		return nil, err
	}
	longest := 0
	length := func(rank int) int { return int(binary.LittleEndian.Uint64(lengths[word*rank:])) }
	for rank := range g.Size() {
		longest = max(longest, length(rank))
	}
	if longest == 0 {
		return make([][]byte, g.Size()), nil
	}
	all := make([]byte, longest*g.Size())
	copy(all[longest*g.Rank():], mine)
	if err := g.Allgather(all); err != nil {
		return nil, err
	}
	parts := make([][]byte, g.Size())
	for rank := range parts {
		parts[rank] = all[longest*rank:][:length(rank)]
	}
	return parts, nil
}

// Sum returns the sum of every rank's number.
func Sum(g Group, mine int) (int, error) {
	all, err := Gather(g, mine)
	sum := 0
	for _, n := range all {
		sum += n
	}
	return sum, err
}

// First gives rank 0's value and error to all.
func First[T any](g Group, mine T, err error) (T, error) {
	if g.Size() == 1 {
		return mine, err
	}
	var packed []byte
	if g.Rank() > 0 {
		err = nil
	} else if err == nil {
		packed, err = pack(mine)
	}
	var first T
	if err := Agree(g, err); err != nil {
		return first, err
	}
	parts, err := gather(g, packed)
	if err != nil {
		return first, err
	}
	if err := unpack(parts[0], &first); err != nil {
		return first, &Error{g.Rank(), fmt.Errorf("rank 0 sent something else than expected: %w", err)}
	}
	return first, nil
}

// How an error goes to other processes: its text after one of these.
const (
	failed   = 'f'
	canceled = 'c'
)

// Agree returns the error of the first rank that has one, on all of them: where one stops, all stop. Elsewhere it is
// said whose it is; that the work was cancelled stays context.Canceled.
func Agree(g Group, err error) error {
	if g.Size() == 1 {
		return err
	}
	var mine []byte
	switch {
	case errors.Is(err, context.Canceled):
		mine = []byte{canceled}
	case err != nil:
		mine = append([]byte{failed}, err.Error()...)
	}
	all, broken := gather(g, mine)
	if broken != nil {
		return errors.Join(err, broken)
	}
	for rank, said := range all {
		switch {
		case len(said) == 0:
		case rank == g.Rank():
			return err
		case said[0] == canceled:
			return context.Canceled
		default:
			return fmt.Errorf("rank %d: %s", rank, said[1:])
		}
	}
	return nil
}

// Alike is Agree for the beginning of a work: it refuses ranks whose key, a name for all that decides the result, is
// not that of rank 0.
func Alike(g Group, key string, err error) error {
	if err := Agree(g, err); err != nil {
		return err
	}
	all, err := Gather(g, key)
	if err != nil {
		return err
	}
	for rank, k := range all {
		if k != all[0] {
			return fmt.Errorf("rank %d does other work than rank 0: expected the same command, files and kernel "+
				"(VND_KERNEL) on all", rank)
		}
	}
	return nil
}
