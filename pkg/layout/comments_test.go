package layout_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// TestComments holds the comment of a function, a method or a type to begin with its name, as a rename forgets it.
func TestComments(t *testing.T) {
	var all []finding
	for _, file := range files(t, ".go") {
		if text := read(t, file); !generated(text) {
			all = append(all, commentsOf(t, file, text)...)
		}
	}
	hold(t, "comments.txt", all)
}

// commentsOf finds comments that begin with another name. That of a test may begin with other words.
func commentsOf(t *testing.T, file, text string) (found []finding) {
	t.Helper()
	set := token.NewFileSet()
	src, err := parser.ParseFile(set, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	look := func(name *ast.Ident, doc *ast.CommentGroup) {
		words := strings.Fields(doc.Text())
		if len(words) > 1 && slices.Contains([]string{"A", "An", "The"}, words[0]) {
			words = words[1:]
		}
		if len(words) == 0 || strings.Trim(words[0], ":,.;'s") == strings.Trim(name.Name, "s") {
			return
		}
		if strings.HasSuffix(file, "_test.go") && !strings.HasPrefix(words[0], "Test") {
			return
		}
		found = append(found, finding{"comment", file, set.Position(name.Pos()).Line,
			fmt.Sprintf("the comment of %s begins with %q", name.Name, words[0])})
	}
	for _, d := range src.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			look(d.Name, d.Doc)
		case *ast.GenDecl:
			if len(d.Specs) != 1 {
				continue
			}
			if spec, ok := d.Specs[0].(*ast.TypeSpec); ok {
				look(spec.Name, d.Doc)
			}
		}
	}
	return found
}

func TestCommentsFindsOtherNames(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		want             int
	}{
		{"its own name", "a.go", "// F does it.\nfunc F() {}", 0},
		{"no comment", "a.go", "func F() {}", 0},
		{"another name", "a.go", "// G does it.\nfunc F() {}", 1},
		{"a method", "a.go", "// G does it.\nfunc (T) F() {}\n\n// T is one.\ntype T int", 1},
		{"a type with an article", "a.go", "// A T is one.\ntype T int", 0},
		{"its own name in the plural", "a.go", "// Ts are many.\ntype T int", 0},
		{"its own name and a colon", "a_test.go", "// TestF: it does.\nfunc TestF() {}", 0},
		{"a test's own words", "a_test.go", "// It does what it should.\nfunc TestF() {}", 0},
		{"another test's name", "a_test.go", "// TestG: it does.\nfunc TestF() {}", 1},
		{"a directive", "a.go", "//go:noinline\nfunc F() {}", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := commentsOf(t, c.file, "package p\n\n"+c.text); len(got) != c.want {
				t.Errorf("got %v, want %d", got, c.want)
			}
		})
	}
}
