package param

import (
	"fmt"
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

// under returns the names of the parameters of a group, nil if it is none.
func (ix index) under(group string) []string {
	var names []string
	for _, n := range ix.names {
		if strings.HasPrefix(n, group+".") {
			names = append(names, n)
		}
	}
	return names
}

func (ix index) isGroup(name string) bool {
	for former := range ix.former {
		if strings.HasPrefix(former, name+".") {
			return true
		}
	}
	return ix.under(name) != nil
}

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
	if best := ix.nearest(name); best != "" {
		return fmt.Errorf("parameter %q: unknown, did you mean %q?", short(name), best)
	}
	return fmt.Errorf("parameter %q: unknown", short(name))
}

// nearest returns the declared name that was probably meant, or "". That is a name that
// differs only in its groups, or else the one with the fewest typing errors.
func (ix index) nearest(name string) string {
	if len(name) > 100 { // no declared name is that long
		return ""
	}
	best, least := "", 1+max(1, len(name)/3)
	last := name[strings.LastIndex(name, ".")+1:]
	for _, n := range ix.names {
		if n[strings.LastIndex(n, ".")+1:] == last {
			return n
		}
		if d := distance(name, n); d < least {
			best, least = n, d
		}
	}
	return best
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
