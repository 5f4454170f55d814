package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const source = `package p

type T[E any] struct {
	A, B E
	hidden int
}

func (t *T[E]) Do(how func(a, b int) error, rest ...string) (n int, err error) { return 0, nil }
func (t *T[E]) hide() {}

type I interface {
	M(a, b int)
	N() (x error)
}

type K int

const (
	One K = iota
	Two
	three
)

var V, w = 1, 2

func New[E any](a, b E) *T[E] { return nil }
`

func TestSurface(t *testing.T) {
	dir := made(t, source)
	got, err := surface(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	want := []string{
		"const One K", "const Two", "func (*T[E]) Do(func(int, int) error, ...string) (int, error)",
		"func New[E any](E, E) *T[E]", "type I interface { M(int, int) N() error }", "type K int",
		"type T struct, A E", "type T struct, B E", "type T[E any] struct { }", "var V",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestRecordRefusesWhatIsGone(t *testing.T) {
	const function = "p: func New[E any](E, E) *T[E]"
	for _, c := range []struct {
		name, old, new string // text of the source, and what it becomes
		removed        string
		want           string // in the error; "" for none
		has, lacks     string // lines of api.txt afterwards
	}{
		{"nothing changed", "", "", "", "", function, ""},
		{"a function more", "var V", "func More() {}\nvar V", "", "", "p: func More()", ""},
		{"a field more", "hidden int", "Hidden int", "", "", "p: type T struct, Hidden int", ""},
		{"a parameter's name", "New[E any](a, b E)", "New[E any](x, y E)", "", "", function, ""},
		{"a function gone", "New[E", "old[E", "", function, function, ""},
		{"a function gone by a line", "New[E", "old[E", function, "", "", function},
		{"a method more in an interface", "N() (x error)", "N() error\nO()", "", "p: type I interface", function, ""},
		{"a line that is still there", "V, w", "V, W", "p: var V", "removed.txt lists what is there: p: var V",
			function, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := filepath.Dir(made(t, source))
			write(t, root, "removed.txt", "# a comment\n")
			if err := record(root, root, []string{"p"}); err != nil {
				t.Fatal(err)
			}
			write(t, root, "removed.txt", c.removed)
			write(t, filepath.Join(root, "p"), "p.go", strings.Replace(source, c.old, c.new, 1))
			err := record(root, root, []string{"p"})
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			all, err := lines(filepath.Join(root, "api.txt"))
			if err != nil || c.has != "" && !slices.Contains(all, c.has) || slices.Contains(all, c.lacks) {
				t.Errorf("%v, %q", err, all)
			}
		})
	}
}

// made is the folder p of a package with a source.
func made(t *testing.T, source string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "p")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "p.go", source)
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
