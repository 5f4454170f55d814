package cli

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// shownCommand is a line of a code block that runs vnd, perhaps below mpirun; a comment may follow it.
var shownCommand = regexp.MustCompile(`^(?:mpirun (?:\S+ )*?)?(?:bin/)?vnd ([^#|>&]*)`)

// TestPagesShowCommandsThatParse holds that each command of vnd in a code block of README and docs has flags that
// exist.
func TestPagesShowCommandsThatParse(t *testing.T) {
	root := filepath.Join("..", "..")
	count := 0
	for _, page := range append(markdown(t, filepath.Join(root, "docs")), filepath.Join(root, "README.md")) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range codeLines(string(data)) {
			m := shownCommand.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			count++
			parser, err := newParser(&commands{}, kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parser.Parse(shownWords(m[1])); err != nil {
				t.Errorf("%s: %s: %v", page, line, err)
			}
		}
	}
	if count < 20 {
		t.Errorf("only %d commands found", count)
	}
}

func markdown(t *testing.T, folder string) (pages []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// codeLines returns the lines of fenced code blocks, those that end in a backslash joined with the next.
func codeLines(text string) (lines []string) {
	code := false
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			code = !code
		} else if code {
			lines = append(lines, line)
		}
	}
	return lines
}

// shownWords splits a command as a shell does, and takes the quotes off; a shell variable is a word.
func shownWords(line string) (words []string) {
	for _, w := range shownWord.FindAllString(line, -1) {
		words = append(words, strings.TrimPrefix(strings.NewReplacer(`"`, "", "'", "").Replace(w), "$"))
	}
	return words
}

var shownWord = regexp.MustCompile(`(?:[^\s"']|"[^"]*"|'[^']*')+`)
