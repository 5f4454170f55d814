package msggen

import (
	"fmt"
	"slices"
	"strings"
)

// registry writes the tables of all types, services and actions of the tree. Package path.Base(Import)
// declares their types, entry and serviceEntry.
func (l *loaded) registry() ([]byte, error) {
	f := &file{loaded: l, pkg: l.tree.Own, imports: map[string]string{"vnd/pkg/ros2/cdr": "cdr"}}
	f.printf("\nvar types = map[string]entry{\n")
	for _, m := range l.set.Messages() {
		if err := f.typeEntry(m); err != nil {
			return nil, err
		}
	}
	f.printf("}\n\nvar services = map[string]serviceEntry{\n")
	for _, v := range l.set.Services() {
		hash, err := l.set.Hash(v.Name)
		if err != nil {
			return nil, err
		}
		f.printf("\t%q: {hash: %q, source: %q},\n", v.Name, hash, f.source(v.Name))
	}
	f.printf("}\n\nvar actions = map[string]serviceEntry{\n")
	for _, a := range l.set.Actions() {
		hash, err := l.set.Hash(a.Name)
		if err != nil {
			return nil, err
		}
		f.printf("\t%q: {hash: %q, source: %q},\n", a.Name, hash, f.source(a.Name))
	}
	f.printf("}\n")
	return assembleFile(f.goPackage(f.pkg), f.imports, f.body.String())
}

func (f *file) typeEntry(m *Message) error {
	hash, err := f.set.Hash(m.Name)
	if err != nil {
		return err
	}
	refs, err := f.set.References(m.Name)
	if err != nil {
		return err
	}
	create, err := f.qualified(m.Name, "New")
	if err != nil {
		return err
	}
	f.printf("\t%q: {\n\t\thash: %q,\n\t\tsource: %q,\n", m.Name, hash, f.source(m.Name))
	if _, kind, _, _ := SplitName(m.Name); kind == "action" {
		f.printf("\t\ttext: %q,\n", m.Text)
	}
	if len(refs) > 0 {
		quoted := slices.Clone(refs)
		for i := range quoted {
			quoted[i] = fmt.Sprintf("%q", quoted[i])
		}
		f.printf("\t\trefs: []string{%s},\n", strings.Join(quoted, ", "))
	}
	f.printf("\t\tcreate: func() cdr.Message { return %s() },\n\t},\n", create)
	return nil
}

// source is the definition's file below the tree's root.
func (f *file) source(full string) string {
	pkg, kind, name, err := SplitName(full)
	if err != nil {
		return ""
	}
	if kind != "msg" {
		name, _, _ = strings.Cut(name, "_")
	}
	dir := f.dirs[pkg] + "/"
	return strings.TrimPrefix(dir, "./") + kind + "/" + name + "." + kind
}
