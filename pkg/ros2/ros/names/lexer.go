package names

import "strings"

// token is a terminal symbol in the grammar of remap and parameter rules.
type token uint8

const (
	endOfText  token = iota
	unknown          // no token begins so
	slash            // /
	dot              // .
	tilde            // ~/
	word             // a name without slashes; never two underscores in a row
	colon            // :
	separator        // :=
	topicURL         // rostopic://
	serviceURL       // rosservice://
	nodeKey          // __node or __name
	spaceKey         // __ns
	star             // *
	starStar         // **
	backslash        // \1 … \9
)

// fixed tokens, longer ones before their prefixes.
var fixed = []struct {
	text string
	is   token
}{
	{"rostopic://", topicURL}, {"rosservice://", serviceURL},
	{"__node", nodeKey}, {"__name", nodeKey}, {"__ns", spaceKey}, {"__", unknown},
	{"~/", tilde}, {":=", separator}, {":", colon}, {"/", slash}, {".", dot}, {"**", starStar}, {"*", star},
}

// lexer splits a rule into tokens.
type lexer struct {
	text string
	at   int // start of the present token
	is   token
	end  int // of the present token
}

func newLexer(text string) *lexer {
	l := &lexer{text: text}
	l.next()
	return l
}

// next goes on to the next token.
func (l *lexer) next() {
	l.at = l.end
	l.is, l.end = scan(l.text, l.at)
}

// scan returns the token at text[at:] and its end.
func scan(text string, at int) (token, int) {
	rest := text[at:]
	if rest == "" {
		return endOfText, at
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

// take goes on if the present token is the wanted one.
func (l *lexer) take(want token) bool {
	if l.is != want {
		return false
	}
	l.next()
	return true
}

// prefixed reads a leading "node:" and returns the node, "" without one.
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

// expected is the error at the present token.
func (l *lexer) expected(what string) error {
	return &Error{l.text, l.at, "expected " + what}
}
