package layout_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// Limits of the sources. Columns are characters, a tab counts four.
const (
	maxFunction = 60 // lines, from func to the closing brace
	maxNesting  = 4  // statements that hold one another, and function literals
	maxColumns  = 120
	maxFile     = 400 // lines
)

// TestShape measures every Go and C file that was written by hand, tests included.
func TestShape(t *testing.T) {
	var all []finding
	for _, file := range files(t, ".go", ".c", ".h") {
		text := read(t, file)
		if generated(text) {
			continue
		}
		all = append(all, linesOf(file, text)...)
		if filepath.Ext(file) == ".go" {
			all = append(all, functionsOf(t, file, text)...)
		}
	}
	hold(t, "shape.txt", all)
}

var marked = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func generated(text string) bool { return marked.MatchString(text) }

// tagDoc is the doc of a parameter's tag. Go has no way to break the line of a tag, so that doc and the rest of the
// line are measured each by itself.
var tagDoc = regexp.MustCompile("^(.*`param:.* doc:\")((?:[^\"\\\\]|\\\\.)*)(\".*`.*)$")

func columnsOf(line string) int {
	columns := func(s string) int { return utf8.RuneCountInString(s) + 3*strings.Count(s, "\t") }
	if m := tagDoc.FindStringSubmatch(line); m != nil {
		return max(columns(m[1]+m[3]), columns(m[2]))
	}
	return columns(line)
}

// linesOf finds lines that are too long, and too many of them.
func linesOf(file, text string) (found []finding) {
	lines := 0
	for line := range strings.Lines(text) {
		lines++
		line = strings.TrimRight(line, "\r\n")
		if columns := columnsOf(line); columns > maxColumns {
			found = append(found, finding{"columns", file, lines,
				fmt.Sprintf("%d columns, at most %d", columns, maxColumns)})
		}
	}
	if lines > maxFile {
		found = append(found, finding{"file", file, 1, fmt.Sprintf("%d lines, at most %d", lines, maxFile)})
	}
	return found
}

// functionsOf finds functions that are too long or nested too deeply. A literal of a package's variable counts as one.
func functionsOf(t *testing.T, file, text string) (found []finding) {
	t.Helper()
	set := token.NewFileSet()
	src, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	measure := func(name string, from ast.Node, body *ast.BlockStmt) {
		first, last := set.Position(from.Pos()).Line, set.Position(body.End()).Line
		if lines := last - first + 1; lines > maxFunction {
			found = append(found, finding{"function", file, first,
				fmt.Sprintf("%s: %d lines, at most %d", name, lines, maxFunction)})
		}
		if levels := nesting(body); levels > maxNesting {
			found = append(found, finding{"nesting", file, first,
				fmt.Sprintf("%s: %d levels, at most %d", name, levels, maxNesting)})
		}
	}
	for _, d := range src.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			if f.Body != nil {
				measure(f.Name.Name, f, f.Body)
			}
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			f, ok := n.(*ast.FuncLit)
			if ok {
				measure("function literal", f, f.Body)
			}
			return !ok
		})
	}
	return found
}

// nesting returns the depth of statements and function literals below n. An else-if is as deep as its if,
// a case as its switch.
func nesting(n ast.Node) (deepest int) {
	ast.Inspect(n, func(child ast.Node) bool {
		level := 1
		switch s := child.(type) {
		case *ast.IfStmt:
			if s == n { // an else-if, asked for below
				return true
			}
			deepest = max(deepest, 1+nesting(s.Cond), 1+nesting(s.Body))
			if s.Init != nil {
				deepest = max(deepest, nesting(s.Init))
			}
			if next, ok := s.Else.(*ast.IfStmt); ok {
				deepest = max(deepest, nesting(&ast.BlockStmt{List: []ast.Stmt{next}}))
			} else if s.Else != nil {
				deepest = max(deepest, 1+nesting(s.Else))
			}
			return false
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.FuncLit:
		default:
			level = 0
		}
		if level == 0 || child == n {
			return true
		}
		deepest = max(deepest, level+nesting(child))
		return false
	})
	return deepest
}

func TestNestingCountsLevels(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       int
	}{
		{"straight", "x = 1", 0},
		{"block", "{ x = 1 }", 0},
		{"one", "if a { x = 1 }", 1},
		{"beside one another", "if a { x = 1 }; for { x = 2 }", 1},
		{"else", "if a { x = 1 } else { for { x = 2 } }", 2},
		{"else if", "if a { x = 1 } else if b { x = 2 } else if c { for { x = 3 } }", 2},
		{"for in if", "if a { for range b { x = 1 } }", 2},
		{"switch", "switch a { case 1: if b { x = 1 } }", 2},
		{"type switch", "switch a.(type) { case int: x = 1 }", 1},
		{"select in for", "for { select { case <-a: x = 1 } }", 2},
		{"function literal", "go func() { for { x = 1 } }()", 2},
		{"function literal in a condition", "if a(func() { for { x = 1 } }) { x = 2 }", 3},
		{"deferred in a table test", "for range a { t.Run(b, func() { for { if c { x = 1 } } }) }", 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {"+c.body+"}", 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := nesting(src.Decls[0].(*ast.FuncDecl).Body); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestShapeFindsEachRule(t *testing.T) {
	long := "package p\nfunc f() {" + strings.Repeat("\n", 60) + "}\n"
	deep := "package p\nfunc f() { for { for { for { for { for { } } } } } }\n"
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "package p\n", ""},
		{"function of 60 lines", strings.Replace(long, "\n\n", "\n", 1), ""},
		{"function of 61 lines", long, "function"},
		{"literal of 61 lines", "package p\nvar f = func() {" + strings.Repeat("\n", 60) + "}\n", "function"},
		{"five levels", deep, "nesting"},
		{"120 columns", "package p\n\t// " + strings.Repeat("µ", 113) + "\n", ""},
		{"121 columns", "package p\n\t// " + strings.Repeat("µ", 114) + "\n", "columns"},
		{"a parameter's doc beside its line", "package p\ntype t struct {\n\tX int `param:\"x\" doc:\"" +
			strings.Repeat("µ", 120) + "\"`\n}\n", ""},
		{"a parameter's doc of 121 columns", "package p\ntype t struct {\n\tX int `param:\"x\" doc:\"" +
			strings.Repeat("µ", 121) + "\"`\n}\n", "columns"},
		{"400 lines", "package p" + strings.Repeat("\n", 400), ""},
		{"401 lines", "package p" + strings.Repeat("\n", 401), "file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rules []string
			for _, f := range append(linesOf("a.go", c.text), functionsOf(t, "a.go", c.text)...) {
				rules = append(rules, f.rule)
			}
			if got := strings.Join(rules, " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
