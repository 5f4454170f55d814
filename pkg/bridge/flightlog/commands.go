package flightlog

import (
	"cmp"
	"math"
	"slices"

	"vnd/pkg/core/quad"
)

const (
	maxCommands = 8192 // kept; the older are forgotten
	setBack     = 5    // so many commands in a row from the past mean that the clock was set back
)

// held is a command and when it came into force, ns.
type held struct {
	at      int64
	command quad.Command
}

// timeline is the commands by the time from which they are in force, whatever the order in which they came.
type timeline struct {
	timeout    int64 // ns
	list       []held
	past       int // commands in a row that were older than the newest
	invalid    int
	duplicates int
	disordered int // older than one that came before them
	resets     int
}

// add takes a command into its place. One with the stamp of another replaces it.
func (l *timeline) add(at int64, c quad.Command) {
	if !finite(c) {
		l.invalid++
		return
	}
	place, found := l.find(at)
	if found {
		l.duplicates++
		l.list[place].command = c
		return
	}
	switch {
	case place == len(l.list):
		l.past = 0
	case l.setsBack(at):
		l.list = l.list[:place] // what follows has stamps of the clock before
		l.past = 0
		l.resets++
	default:
		l.past++
		l.disordered++
	}
	l.list = slices.Insert(l.list, place, held{at, c})
	if len(l.list) > maxCommands {
		l.list = slices.Delete(l.list, 0, maxCommands/2)
	}
}

// setsBack reports whether a command with this time means that the clock was set back.
func (l *timeline) setsBack(at int64) bool { return at < l.newest() && l.past+1 >= setBack }

// newest is the time of the last command.
func (l *timeline) newest() int64 {
	if len(l.list) == 0 {
		return math.MinInt64
	}
	return l.list[len(l.list)-1].at
}

// mean is the time-weighted mean of what was in force in [from, to); false when for some of it there was nothing, or
// nothing for longer than the timeout.
func (l *timeline) mean(from, to int64) (quad.Command, bool) {
	i := l.inForce(from)
	if i < 0 {
		return quad.Command{}, false
	}
	var sum quad.Command
	for at := from; at < to; i++ {
		h, end := l.list[i], to
		if i+1 < len(l.list) {
			end = min(to, l.list[i+1].at)
		}
		if end-h.at > l.timeout {
			return quad.Command{}, false
		}
		if end-at == to-from {
			return h.command, true // to the last bit
		}
		w := float64(end-at) / float64(to-from)
		sum.Thrust += w * h.command.Thrust
		sum.Rates = sum.Rates.Add(h.command.Rates.Scale(w))
		at = end
	}
	return sum, true
}

// inForce is the index of the last command at or before a time, −1 for none.
func (l *timeline) inForce(at int64) int {
	place, found := l.find(at)
	if found {
		return place
	}
	return place - 1
}

// find is the place of a time among the commands.
func (l *timeline) find(at int64) (place int, found bool) {
	return slices.BinarySearchFunc(l.list, at, func(h held, at int64) int { return cmp.Compare(h.at, at) })
}

// forget drops what is no longer in force at a time.
func (l *timeline) forget(at int64) {
	if i := l.inForce(at); i > 0 {
		l.list = slices.Delete(l.list, 0, i)
	}
}

func finite(c quad.Command) bool {
	sum := c.Thrust + c.Rates.X + c.Rates.Y + c.Rates.Z
	return !math.IsNaN(sum) && !math.IsInf(sum, 0)
}
