package layout_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// Limits of the prose of a page, in words.
const (
	maxSentence = 25
	maxMean     = 16.0
)

// TestProse counts the words of every sentence of every page.
func TestProse(t *testing.T) {
	var all []finding
	for _, page := range files(t, ".md") {
		words, long := 0, []finding(nil)
		sentences := split(read(t, page))
		for _, s := range sentences {
			words += s.words
			if s.words > maxSentence {
				text := fmt.Sprintf("%d words: %.60s…", s.words, s.text)
				long = append(long, finding{"sentence", page, s.line, text})
			}
		}
		if mean := float64(words) / float64(max(1, len(sentences))); mean > maxMean {
			text := fmt.Sprintf("%.1f words a sentence, at most %.0f", mean, maxMean)
			all = append(all, finding{"mean", page, 1, text})
		}
		all = append(all, long...)
	}
	hold(t, "prose.txt", all)
}

// sentence is one sentence of a page.
type sentence struct {
	line  int // of its paragraph's first line
	text  string
	words int
}

var (
	codeSpan    = regexp.MustCompile("``[^`]+(?:`[^`]+)*``|`[^`]*`")
	image       = regexp.MustCompile(`!\[([^\]]*)\]\([^)]*\)`)
	linked      = regexp.MustCompile(`\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])`)
	htmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	listItem    = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?`)
	fenced      = regexp.MustCompile("^\\s*(```|~~~)")
)

// split returns the sentences of a Markdown text. Code blocks, tables, headings and front matter have none;
// an item of a list starts one.
func split(text string) (sentences []sentence) {
	var paragraph []string
	start, code := 0, false
	end := func() {
		sentences = append(sentences, splitParagraph(strings.Join(paragraph, " "), start)...)
		paragraph = nil
	}
	text = htmlComment.ReplaceAllStringFunc(text, func(comment string) string {
		return strings.Repeat("\n", strings.Count(comment, "\n"))
	})
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeft(strings.TrimSpace(line), "> ")
		fence := fenced.MatchString(line)
		switch {
		case fence || code || trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, "|"):
			end()
			code = code != fence
			continue
		case strings.HasPrefix(line, "    ") && paragraph == nil: // an indented code block
			continue
		case trimmed == "---" || strings.HasPrefix(trimmed, "===") || strings.HasPrefix(trimmed, "[^"):
			end()
			continue
		case listItem.MatchString(line):
			end()
			trimmed = listItem.ReplaceAllString(line, "")
		}
		if paragraph == nil {
			start = i + 1
		}
		paragraph = append(paragraph, trimmed)
	}
	end()
	return sentences
}

// abbreviations end in a dot and no sentence.
var abbreviations = []string{"e.g.", "i.e.", "etc.", "vs.", "cf.", "ca.", "approx.", "fig.", "figs.", "eq.", "sec.",
	"no.", "al.", "resp.", "dr.", "incl.", "min.", "max."}

// splitParagraph cuts a paragraph behind a full stop, question mark or exclamation mark that a space follows.
// Inline code counts as one word, a link as its text.
func splitParagraph(paragraph string, line int) (sentences []sentence) {
	text := codeSpan.ReplaceAllString(paragraph, "Code")
	text = image.ReplaceAllString(text, "$1.")
	text = linked.ReplaceAllString(text, "$1")
	var words []string
	end := func() {
		if n := countWords(words); n > 0 {
			sentences = append(sentences, sentence{line, strings.Join(words, " "), n})
		}
		words = nil
	}
	all := strings.Fields(text)
	for i, word := range all {
		words = append(words, word)
		if i+1 < len(all) && ends(word, all[i+1]) {
			end()
		}
	}
	end()
	return sentences
}

// ends tells whether a sentence ends with word. Names such as vnd start one with a small letter.
func ends(word, next string) bool {
	bare := strings.TrimRight(word, `"'”’)]*_»`)
	if !strings.ContainsAny(bare[max(0, len(bare)-1):], ".!?") || strings.Trim(bare, ".") == "" {
		return false
	}
	if slices.Contains(abbreviations, strings.ToLower(strings.TrimLeft(bare, `"'“‘([*_«`))) {
		return strings.EqualFold(bare, "etc.") && unicode.IsUpper([]rune(next)[0])
	}
	return true
}

// countWords counts those that have a letter or a digit.
func countWords(words []string) (n int) {
	for _, w := range words {
		if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}

func TestSplitCountsWords(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []int
	}{
		{"one", "The quadrotor flies.", []int{3}},
		{"two on a line", "It flies. It lands.", []int{2, 2}},
		{"over two lines", "It flies over\nthe field. It lands.", []int{5, 2}},
		{"question and exclamation", "Does it fly? It does! Good.", []int{3, 2, 1}},
		{"abbreviation", "Drivers, e.g. Vicon vs. Qualisys, work.", []int{6}},
		{"abbreviation before a capital letter", "A robot, e.g. Crazyflie, flies.", []int{5}},
		{"etc. at the end", "Vicon, Qualisys, etc. All work. Vicon etc. work.", []int{3, 2, 3}},
		{"small letter at a sentence's start", "The wind blows. vnd learns it.", []int{3, 3}},
		{"three dots", "It flies ... and lands.", []int{4}},
		{"decimal", "The error is .5 m. Then it is 0.25 m.", []int{5, 5}},
		{"decimal at a sentence's start", "It errs. .5 m is too much.", []int{2, 5}},
		{"file name", "Read params/fit.yaml and main.go first.", []int{5}},
		{"link", "See [the guide of nodes](docs/guide/nodes.md#a-node). Done.", []int{5, 1}},
		{"reference link", "See [the guide][guide].", []int{3}},
		{"image", "![A demo over minutes](demo.png)\nIt ends.", []int{4, 2}},
		{"inline code", "Run `vnd fit --out my.vnd flights/`. Then wait.", []int{2, 2}},
		{"inline code with a dot", "Run `make. Now` twice.", []int{3}},
		{"list", "Steps:\n- Build it.\n- Run it\n1. Look\n2. Land it now", []int{1, 2, 2, 1, 3}},
		{"item over two lines", "- Build\n  it now\n- Run", []int{3, 1}},
		{"task list", "- [ ] Tests pass\n- [x] Lint passes", []int{2, 2}},
		{"code block", "Run:\n\n```\nmake demo and a lot more. Words.\n```\nDone.", []int{1, 1}},
		{"indented code", "Run:\n\n    make test\n\nDone.", []int{1, 1}},
		{"heading", "# A heading of words\nText.", []int{1}},
		{"table", "Text.\n\n| a | b |\n|---|---|\n| one two. | three |\n", []int{1}},
		{"paragraphs without a full stop", "One two\n\nThree", []int{2, 1}},
		{"dash and sign are no words", "It flies – and = lands.", []int{4}},
		{"brackets around a sentence", "It flies. (It also lands.) Good.", []int{2, 3, 1}},
		{"bold", "**It flies.** It lands.", []int{2, 2}},
		{"ellipsis", "It flies … and lands. Good.", []int{4, 1}},
		{"quotation", "> It flies.\n> It lands.", []int{2, 2}},
		{"comment of HTML", "One.\n<!-- two three\nfour -->\nFive.", []int{1, 1}},
		{"semicolon", "It flies; it lands.", []int{4}},
		{"empty", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []int
			for _, s := range split(c.text) {
				got = append(got, s.words)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q: got %v, want %v", c.text, got, c.want)
			}
		})
	}
}

func TestSplitGivesLines(t *testing.T) {
	got := split("# Title\n\nOne. Two.\n\n- Three\n")
	if len(got) != 3 || got[0].line != 3 || got[1].line != 3 || got[2].line != 5 || got[1].text != "Two." {
		t.Errorf("got %v", got)
	}
}
