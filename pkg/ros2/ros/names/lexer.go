package names

import "strings"

// symbol is a word of the grammar of remap and parameter rules.
type symbol uint8

const (
	ending     symbol = iota
	unknown           // no symbol begins so
	slash             // /
	dot               // .
	tilde             // ~/
	word              // a name without slashes; never two underscores in a row
	colon             // :
	separator         // :=
	topicURL          // rostopic://
	serviceURL        // rosservice://
	nodeKey           // __node or __name
	spaceKey          // __ns
	star              // *
	starStar          // **
	backslash         // \1 … \9
)

// fixed symbols, longer ones before their beginnings.
var fixed = []struct {
	text string
	is   symbol
}{
	{"rostopic://", topicURL}, {"rosservice://", serviceURL},
	{"__node", nodeKey}, {"__name", nodeKey}, {"__ns", spaceKey}, {"__", unknown},
	{"~/", tilde}, {":=", separator}, {":", colon}, {"/", slash}, {".", dot}, {"**", starStar}, {"*", star},
}

// lexer walks through a rule.
type lexer struct {
	text string
	at   int // the present symbol begins here
	is   symbol
	end  int // and ends here
}

func newLexer(text string) *lexer {
	l := &lexer{text: text}
	l.next()
	return l
}

// next goes on to the next symbol.
func (l *lexer) next() {
	l.at = l.end
	l.is, l.end = scan(l.text, l.at)
}

// scan returns the symbol at text[at:] and where it ends.
func scan(text string, at int) (symbol, int) {
	rest := text[at:]
	if rest == "" {
		return ending, at
	}
	for _, f := range fixed {
		if strings.HasPrefix(rest, f.text) {
			return f.is, at + len(f.text)
		}
	}
	if len(rest) > 1 && rest[0] == '\\' && '1' <= rest[1] && rest[1] <= '9' {
		return backslash, at + 2
	}
	if rest[0] != '_' && !isLetter(rest[0]) {
		return unknown, at + 1
	}
	n := 1
	for n < len(rest) && (isLetter(rest[n]) || isDigit(rest[n]) || rest[n] == '_' && rest[n-1] != '_') {
		n++
	}
	return word, at + n
}

// take goes on if the present symbol is the wanted one.
func (l *lexer) take(want symbol) bool {
	if l.is != want {
		return false
	}
	l.next()
	return true
}

// prefixed takes "node:" off the front and returns the node, "" if there is none.
func (l *lexer) prefixed() string {
	if l.is != word {
		return ""
	}
	if second, _ := scan(l.text, l.end); second != colon {
		return ""
	}
	node := l.text[l.at:l.end]
	l.next()
	l.next()
	return node
}

// expected is the error for the present symbol.
func (l *lexer) expected(what string) error {
	return &Error{l.text, l.at, "expected " + what}
}
