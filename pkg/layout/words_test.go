package layout_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// replacements are words that no textbook of the field has, and what to say instead. They are banned
// from declared names, file names and, where inComments is set, from comments.
var replacements = []struct {
	words      string // forms, separated by spaces
	instead    string
	inComments bool
}{
	{"room rooms house houses", "package, layout", true},
	{"arrows", "import rules", true},
	{"leftover leftovers", "residual mean", true},
	{"craft", "loaded policy", true},
	{"crafts", "loaded policies", true},
	{"seat seats", "policy buffers", true},
	{"pilot pilots", "policy runner", true},
	{"flyer flyers", "closed-loop runner", true},
	{"course courses", "task reference", false},
	{"aside", "not in offboard", false},
	{"poised", "ready for handover", true},
	{"doubt doubts", "sample validity", false},
	{"hear hears heard", "AddSample, receive", false},
	{"crew crews", "workers", true},
	{"unrest", "domain randomisation", true},
	{"sight", "camera model", false},
	{"flaws", "sensor faults", true},
	{"torn", "skipped, corrupt", true},
	{"blame", "non-finite term", true},
	{"shelf shelves", "bundle store", true},
	{"withdraw withdraws withdrawn", "roll back", true},
	{"modesty", "resource limits", true},
	{"tell tells told", "publish, report", false},
	{"herald heralds", "publisher of diagnostics", true},
	{"refine refines refined", "fine-tune", false},
	{"school schools", "trainer", true},
	{"duty duties", "task, scenario", true},
	{"ablated looped demoed swept", "…Result", true},
	{"peek peeks", "read", false},
}

// phrases are banned from comments.
var phrases = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\b(?:last word|word back|has the word)\b`), "control authority"},
	{regexp.MustCompile(`(?i)\bknows? nothing of\b`), "does not import"},
}

// TestWords holds names and comments to the vocabulary of the field.
func TestWords(t *testing.T) {
	var all []finding
	for _, file := range files(t, ".go") {
		if text := read(t, file); !generated(text) && !strings.HasPrefix(file, "pkg/layout/words_test") {
			all = append(all, wordsOf(t, file, text)...)
		}
	}
	hold(t, "words.txt", all)
}

// wordsOf finds banned words in a Go file and its name.
func wordsOf(t *testing.T, file, text string) (found []finding) {
	t.Helper()
	set := token.NewFileSet()
	src, err := parser.ParseFile(set, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	add := func(where token.Pos, name, word, instead string) {
		line := 1
		if where.IsValid() {
			line = set.Position(where).Line
		}
		text := fmt.Sprintf("%s: %q is not a word of the field; say %s", name, word, instead)
		found = append(found, finding{"word", file, line, text})
	}
	for _, word := range parts(strings.TrimSuffix(path.Base(file), ".go")) {
		if instead := banned(word, false); instead != "" {
			add(token.NoPos, "file name", word, instead)
		}
	}
	for _, id := range declared(src) {
		for _, word := range parts(id.Name) {
			if instead := banned(word, false); instead != "" {
				add(id.Pos(), id.Name, word, instead)
			}
		}
	}
	for _, group := range src.Comments {
		for _, c := range group.List {
			for _, word := range strings.FieldsFunc(c.Text, func(r rune) bool { return !unicode.IsLetter(r) }) {
				if instead := banned(word, true); instead != "" {
					add(c.Pos(), "comment", word, instead)
				}
			}
		}
		for _, p := range phrases {
			for _, phrase := range p.pattern.FindAllString(group.Text(), -1) {
				add(group.Pos(), "comment", phrase, p.instead)
			}
		}
	}
	return found
}

// banned returns what to say instead of a word, "" for the word itself.
func banned(word string, inComment bool) string {
	for _, r := range replacements {
		if (r.inComments || !inComment) && slices.Contains(strings.Fields(r.words), strings.ToLower(word)) {
			return r.instead
		}
	}
	return ""
}

// parts splits camelCase and snake_case into words.
func parts(name string) []string {
	runes := []rune(name)
	var words []string
	start := 0
	for i := 1; i <= len(runes); i++ {
		if i < len(runes) && !unicode.IsUpper(runes[i]) && runes[i] != '_' {
			continue
		}
		acronym := i < len(runes) && unicode.IsUpper(runes[i-1]) && (i+1 == len(runes) || !unicode.IsLower(runes[i+1]))
		if !acronym {
			words = append(words, strings.ToLower(strings.Trim(string(runes[start:i]), "_")))
			start = i
		}
	}
	return words
}

// declared returns the names that a file declares: packages, types, functions, fields, parameters and variables.
func declared(src *ast.File) (names []*ast.Ident) {
	names = append(names, src.Name)
	take := func(expressions ...ast.Expr) {
		for _, e := range expressions {
			if id, ok := e.(*ast.Ident); ok {
				names = append(names, id)
			}
		}
	}
	ast.Inspect(src, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names = append(names, n.Name)
		case *ast.TypeSpec:
			names = append(names, n.Name)
		case *ast.ValueSpec:
			names = append(names, n.Names...)
		case *ast.Field:
			names = append(names, n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				take(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				take(n.Key, n.Value)
			}
		}
		return true
	})
	return names
}

func TestPartsSplitsNames(t *testing.T) {
	for name, want := range map[string]string{
		"room": "room", "roomOf": "room of", "HTTPServer": "http server", "toolRunner2": "tool runner2",
		"snake_case_name": "snake case name", "readCDR": "read cdr", "X": "x", "classroom": "classroom",
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(parts(name), " "); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestWordsFindsNamesAndComments(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"function", "package p\nfunc roomOf() {}", 1},
		{"type and field", "package p\ntype Crew struct{ seat int }", 2},
		{"parameter and result", "package p\nfunc f(pilot int) (shelf int) { return }", 2},
		{"variables", "package p\nvar craft = 1\nfunc f() { school, x := 1, 2; for flaws := range x {} }", 3},
		{"use of another package's name", "package p\nfunc f() { fmt.Tell() }", 0},
		{"comment", "package p // the crew flies in a room\n", 2},
		{"phrase", "package p\n// The guard has\n// the last word.\nvar x int", 1},
		{"ordinary words in comments", "package p // of course, as told, aside from classrooms\n", 0},
		{"string", "package p\nvar x = `room`", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := wordsOf(t, "a.go", c.text); len(got) != c.want {
				t.Errorf("got %v, want %d", got, c.want)
			}
		})
	}
}
