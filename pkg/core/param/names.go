package param

import (
	"fmt"
	"slices"
	"strings"
)

// index finds parameters by name.
type index struct {
	names  []string // in the order of the fields
	leaf   map[string]field
	former map[string]field // by names of the version before
}

func indexOf(fields []field) index {
	ix := index{leaf: map[string]field{}, former: map[string]field{}}
	for _, f := range fields {
		ix.names = append(ix.names, f.Name)
		ix.leaf[f.Name] = f
		for _, name := range f.Former {
			ix.former[name] = f
		}
	}
	return ix
}

// under returns the names of the parameters of a group, nil if it is none. The group may have its former name.
func (ix index) under(group string) []string {
	inGroup := func(name string) bool { return strings.HasPrefix(name, group+".") }
	var names []string
	for _, n := range ix.names {
		if inGroup(n) || slices.ContainsFunc(ix.leaf[n].Former, inGroup) {
			names = append(names, n)
		}
	}
	return names
}

func (ix index) isGroup(name string) bool { return ix.under(name) != nil }

// find returns the parameter of a name, with a warning where that is a former one.
func (ix index) find(name string) (field, error) {
	if f, ok := ix.leaf[name]; ok {
		return f, nil
	}
	f, ok := ix.former[name]
	if !ok {
		return f, ix.unknown(name)
	}
	Warn(Renamed(name, f.Name))
	return f, nil
}

// unknown is the error for a name that is not declared.
func (ix index) unknown(name string) error {
	if names := ix.under(name); names != nil {
		return fmt.Errorf("parameter %q: is a group of %s", name, strings.Join(names, ", "))
	}
	if best, _ := ix.nearest(name); best != "" {
		return fmt.Errorf("parameter %q: unknown, did you mean %q?", short(name), best)
	}
	return fmt.Errorf("parameter %q: unknown", short(name))
}

// Nearest returns the declared name that was probably meant by another, and how many letters differ; "" for none.
func Nearest(name string, declared []string) (best string, typos int) {
	return index{names: declared}.nearest(name)
}

// nearest returns the declared name that was probably meant, or "". Names that differ only in their groups come first,
// then those with few typing errors. A former name stands for the new one.
func (ix index) nearest(name string) (best string, typos int) {
	if len(name) > 100 { // no declared name is that long
		return "", 0
	}
	last := func(name string) string { return name[strings.LastIndex(name, ".")+1:] }
	limit := max(1, len(name)/3)
	bestSame := false // best and name differ only in their groups
	for _, n := range ix.names {
		for _, candidate := range append([]string{n}, ix.leaf[n].Former...) {
			d, same := distance(name, candidate), last(candidate) == last(name)
			if !same && (bestSame || d > limit) {
				continue
			}
			if best == "" || same && !bestSame || d < typos {
				best, typos, bestSame = n, d, same
			}
		}
	}
	return best, typos
}

// distance is the Levenshtein distance: insertions, deletions and substitutions.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
