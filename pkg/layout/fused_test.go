package layout_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNothingLessItself: x - x is no test of whether x is finite. Where x is a product, arm64 fuses it with the
// difference, which then is what rounding x left of it. x*0 is 0 of all finite numbers.
func TestNothingLessItself(t *testing.T) {
	for _, file := range files(t, ".go", ".c", ".h", ".tmpl") {
		find := differencesC
		if filepath.Ext(file) == ".go" {
			find = differencesGo
		}
		for _, x := range find(t, file, read(t, file)) {
			t.Errorf("%s: %s - itself: ask whether %s*0 == 0", file, x, x)
		}
	}
}

// differencesGo are the expressions of which a source takes themselves away.
func differencesGo(t *testing.T, file, text string) (found []string) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		d, ok := n.(*ast.BinaryExpr)
		if !ok || d.Op != token.SUB && d.Op != token.ADD {
			return true
		}
		x := d.X // of a + b - b, which is (a + b) - b, b
		if sum, ok := x.(*ast.BinaryExpr); ok && (sum.Op == token.ADD || sum.Op == token.SUB) {
			x = sum.Y
		}
		if c, ok := d.Y.(*ast.CallExpr); ok && len(c.Args) == 0 { // may be another number each time
			return true
		}
		if d.Op == token.SUB && types.ExprString(x) == types.ExprString(d.Y) {
			found = append(found, types.ExprString(x))
		}
		return true
	})
	return found
}

var minus = regexp.MustCompile(`([\w.\[\]>]+(?:->[\w.\[\]]+)*) - ([\w.\[\]]+(?:->[\w.\[\]]+)*)`)

func differencesC(_ *testing.T, _, text string) (found []string) {
	for _, m := range minus.FindAllStringSubmatch(text, -1) {
		if strings.TrimRight(m[1], "]") == strings.TrimRight(m[2], "]") {
			found = append(found, m[1])
		}
	}
	return found
}

// Differences are found, and what looks like one is not.
func TestDifferencesAreFound(t *testing.T) {
	for text, want := range map[string]int{
		"x-x": 1, "v.X-v.X+v.Y-v.Y": 2, "f(x)-f(x) == 0": 1, "s[i+1]-s[i+1]": 1, "1 + x - x": 1,
		"x - y": 0, "x - x*y": 0, "c.x - x": 0, "r() - r()": 0, "x*0": 0, "n - n/2": 0,
	} {
		if got := differencesGo(t, "a.go", "package a\nvar _ = "+text+"\n"); len(got) != want {
			t.Errorf("%s: %q, expected %d", text, got, want)
		}
	}
	for text, want := range map[string]int{"w += s[j] - s[j];": 1, "p->x - p->x == 0": 1, "b->size - size": 0} {
		if got := differencesC(t, "", text); len(got) != want {
			t.Errorf("%s: %q, expected %d", text, got, want)
		}
	}
}
