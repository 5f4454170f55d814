package names

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestInvalid: errors have rcl's text and position.
func TestInvalid(t *testing.T) {
	long := strings.Repeat("a", 300)
	for _, c := range []struct {
		check func(string) error
		name  string
		at    int
		why   string
	}{
		{CheckNode, "", 0, "must not be empty"},
		{CheckNode, "a/b", 1, "alphanumerics or '_'"},
		{CheckNode, "a-b", 1, "alphanumerics or '_'"},
		{CheckNode, "aé", 1, "alphanumerics or '_'"},
		{CheckNode, "4a", 0, "must not start with a number"},
		{CheckNode, long, 254, "should not exceed 255"},
		{CheckTopic, "", 0, "must not be empty"},
		{CheckTopic, "a", 0, "must be absolute"},
		{CheckTopic, "/", 0, "must not end with a '/'"},
		{CheckTopic, "/a/", 2, "must not end with a '/'"},
		{CheckTopic, "/a~b", 2, "alphanumerics, '_', or '/'"},
		{CheckTopic, "/a//b", 3, "must not contain repeated '/'"},
		{CheckTopic, "//b", 1, "must not contain repeated '/'"},
		{CheckTopic, "/a/4b", 3, "token that starts with a number"},
		{CheckTopic, "/" + long, 246, "should not exceed 247"},
		{CheckNamespace, "", 0, "namespace must not be empty"},
		{CheckNamespace, "a", 0, "namespace must be absolute"},
		{CheckNamespace, "/" + long, 244, "should not exceed 245"},
		{CheckEnclave, "a", 0, "enclave name must be absolute"},
		{CheckRelative, "", 0, "must not be empty string"},
		{CheckRelative, "7foo/bar", 0, "must not start with a number"},
		{CheckRelative, "/", 0, "must not end with a forward slash"},
		{CheckRelative, "foo/", 3, "must not end with a forward slash"},
		{CheckRelative, "foo bar", 3, "other than alphanumerics, '_', '~', '{', or '}'"},
		{CheckRelative, "foo/4bar", 4, "must not start with a number"},
		{CheckRelative, "foo/~", 4, "unless it is the first character"},
		{CheckRelative, "~foo", 1, "not followed by a forward slash"},
		{CheckRelative, "{4bar}", 1, "substitution name must not start with a number"},
		{CheckRelative, "{b/r}", 2, "substitution name must not contain"},
		{CheckRelative, "{b-r}", 2, "substitution name must not contain"},
		{CheckRelative, "{{b}}", 1, "substitution name must not contain"},
		{CheckRelative, "foo/{bar", 4, "unmatched (unbalanced) curly braces"},
		{CheckRelative, "foo}", 3, "unmatched (unbalanced) curly braces"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.check(c.name)
			var e *Error
			if !errors.As(err, &e) || e.At != c.at || !strings.Contains(e.Why, c.why) || e.Name != c.name {
				t.Errorf("%.20q: %v, want position %d: %s", c.name, err, c.at, c.why)
			}
		})
	}
	want := `invalid name "foo bar" at position 3: topic name must not contain characters other than alphanumerics, ` +
		`'_', '~', '{', or '}'`
	if err := CheckRelative("foo bar"); err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if err := CheckNode(strings.Repeat("é", 10000)); len(err.Error()) > 1000 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

func TestValid(t *testing.T) {
	for _, name := range []string{"/a", "/a/b_2", "/_a"} {
		if err := errors.Join(CheckTopic(name), CheckNamespace(name), CheckEnclave(name),
			CheckRelative(name)); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"~", "~/x", "{node}", "{ns}/x", "a//b", "a/{node}_x", "{}"} {
		if err := CheckRelative(name); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(CheckNamespace("/"), CheckEnclave("/"), CheckNode("_a4")); err != nil {
		t.Error(err)
	}
}

func TestExpand(t *testing.T) {
	for _, c := range []struct{ namespace, name, want string }{
		{"/ns", "chatter", "/ns/chatter"}, {"/", "chatter", "/chatter"}, {"/ns", "/chatter", "/chatter"},
		{"/ns", "~/x", "/ns/me/x"}, {"/", "~/x", "/me/x"}, {"/ns", "~", "/ns/me"},
		{"/ns", "{node}/x", "/ns/me/x"}, {"/ns", "{ns}/x", "/ns/x"}, {"/ns", "{namespace}/{node}", "/ns/me"},
		{"/ns", "/{node}", "/me"}, {"/ns", "a_{node}_{node}", "/ns/a_me_me"}, {"/ns", "~/{node}", "/ns/me/me"},
	} {
		t.Run(c.namespace+" "+c.name, func(t *testing.T) {
			n := Node{Name: "me", Namespace: c.namespace}
			if got, err := n.Topic(c.name); err != nil || got != c.want {
				t.Errorf("%s in %s: %s, %v, want %s", c.name, c.namespace, got, err, c.want)
			}
		})
	}
	n := Node{Name: "me", Namespace: "/ns"}
	for _, c := range []struct{ name, want string }{
		{"{ping}",
			`invalid name "{ping}" at position 0: unknown substitution {ping}, expected {node}, {ns} or {namespace}`},
		{"{node}/a{}",
			`invalid name "{node}/a{}" at position 8: unknown substitution {}, expected {node}, {ns} or {namespace}`},
		{"/{ns}/x", `invalid name "//ns/x" at position 1: topic name must not contain repeated '/'`},
		{"a//b", `invalid name "/ns/a//b" at position 6: topic name must not contain repeated '/'`},
		{"a b",
			`invalid name "a b" at position 1: topic name must not contain characters other than alphanumerics, '_', ` +
				`'~', '{', or '}'`},
		{"{node}{ns}{no}",
			`invalid name "{node}{ns}{no}" at position 10: unknown substitution {no}, expected {node}, {ns} or ` +
				`{namespace}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := n.Topic(c.name); err == nil || err.Error() != c.want {
				t.Errorf("%s: %s, %v\nwant %s", c.name, got, err, c.want)
			}
		})
	}
}

// rules parses valid rules.
func rules(t *testing.T, texts ...string) []Rule {
	t.Helper()
	rs := make([]Rule, len(texts))
	for i, text := range texts {
		r, err := ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		rs[i] = r
	}
	return rs
}

func TestRemap(t *testing.T) {
	n, err := NewNode("/ns", "me", rules(t,
		"foo:=bar", "foo:=second", "/abs:=~/private", "~/p:=/q", "other:x:=y", "me:x:=z",
		"rostopic://only:=topic", "rosservice:///ns/only:=service", "chain:=foo"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		resolve    func(string) (string, error)
		name, want string
	}{
		{n.Topic, "foo", "/ns/bar"}, {n.Service, "/ns/foo", "/ns/bar"}, {n.Topic, "/foo", "/foo"},
		{n.Topic, "/abs", "/ns/me/private"}, {n.Topic, "~/p", "/q"}, {n.Topic, "/ns/me/p", "/q"},
		{n.Topic, "x", "/ns/z"}, {n.Topic, "only", "/ns/topic"}, {n.Service, "only", "/ns/service"},
		{n.Topic, "chain", "/ns/foo"}, // one step only, as in rcl
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := c.resolve(c.name); err != nil || got != c.want {
				t.Errorf("%s: %s, %v, want %s", c.name, got, err, c.want)
			}
		})
	}
}

func TestNewNode(t *testing.T) {
	for _, c := range []struct {
		namespace, name   string
		rules             []Rule
		fullName, loggers string
	}{
		{"", "me", nil, "/me", "me"},
		{"/", "me", nil, "/me", "me"},
		{"a/b", "me", nil, "/a/b/me", "a.b.me"},
		{"", "plain", rules(t, "__node:=ctrl", "__ns:=/drone1"), "/drone1/ctrl", "drone1.ctrl"},
		{"", "plain", rules(t, "__name:=z", "__node:=y"), "/z", "z"},
		{"/a", "me", rules(t, "you:__node:=x", "you:__ns:=/y", "__ns:=/"), "/me", "me"},
		{"", "old", rules(t, "old:__node:=new", "old:__ns:=/wrong", "new:__ns:=/right"), "/right/new", "right.new"},
	} {
		t.Run(c.namespace+" "+c.name, func(t *testing.T) {
			n, err := NewNode(c.namespace, c.name, c.rules)
			if err != nil || n.FullName() != c.fullName || n.LoggerName() != c.loggers {
				t.Errorf("%s %s %v: %s %s %v", c.namespace, c.name, c.rules, n.FullName(), n.LoggerName(), err)
			}
		})
	}
	for _, c := range []struct {
		namespace, name string
		rules           []Rule
		want            string
	}{
		{"", "a/b", nil, "node name must not contain characters"},
		{"/a//b", "me", nil, "namespace must not contain repeated '/'"},
		{"", "me", rules(t, "__ns:=/a/"), "namespace must not end with a '/'"},
	} {
		t.Run(c.namespace+" "+c.name, func(t *testing.T) {
			if _, err := NewNode(c.namespace, c.name, c.rules); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %s: %v, want %s", c.namespace, c.name, err, c.want)
			}
		})
	}
}

// TestParseRule: remap rules that rcl accepts.
func TestParseRule(t *testing.T) {
	for _, text := range []string{
		"__node:=node_name", "old_name:__node:=node_name", "old_name:__node:=nodename123", "__name:=nodename123",
		"__ns:=/foo/bar", "__ns:=/", "_:=kq", "nodename:__ns:=/foobar", "foo:=bar", "~/foo:=~/bar", "/foo/bar:=bar",
		"foo:=/bar", "/foo123:=/bar123", "node:/foo123:=/bar123", "rostopic:=/foo/bar", "rosservice:=baz",
		"rostopic://rostopic:=rosservice", "rostopic:///rosservice:=rostopic", "rostopic:///foo/bar:=baz",
		"node:rosservice://~/a:=b", "rostopic/a:=b", "rostop:=b",
	} {
		r, err := ParseRule(text)
		if err != nil {
			t.Error(err)
		}
		if again := strings.Replace(text, "__name", "__node", 1); r.String() != again {
			t.Errorf("%s came back as %s", again, r)
		}
	}
}

func TestParseRuleRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `at position 0: expected a name`},
		{":", `at position 0: expected a name`},
		{"1", `at position 0: expected a name`},
		{"~", `at position 0: expected a name`},
		{":=", `at position 0: expected a name`},
		{"foo:=", `at position 5: expected a name`},
		{":=bar", `at position 0: expected a name`},
		{"::=", `at position 0: expected a name`},
		{"1:=", `at position 0: expected a name`},
		{"~:=", `at position 0: expected a name`},
		{"__node:=", `at position 8: expected a node name`},
		{"__node:=/foo/bar", `at position 8: expected a node name`},
		{"__node:=a/b", `at position 9: expected the end of the node name`},
		{"__node=a", `at position 6: expected ":="`},
		{"__nodes:=a", `at position 6: expected ":="`},
		{"__ns:=", `at position 6: expected a namespace that begins with "/"`},
		{"__ns:=foo", `at position 6: expected a namespace that begins with "/"`},
		{"__ns:=//a", `at position 7: expected words separated by single "/"`},
		{"__ns:=/a b", `at position 8: expected words separated by single "/"`},
		{":__node:=nodename", `at position 0: expected a name`},
		{"~:__node:=nodename", `at position 0: expected a name`},
		{"}foo:=/bar", `at position 0: expected a name`},
		{"f oo:=/bar", `at position 1: expected "/" or ":="`},
		{"foo:=/b ar", `at position 7: expected "/" or the end of the name`},
		{"f{oo:=/bar", `at position 1: expected "/" or ":="`},
		{"foo:=/b}ar", `at position 7: expected "/" or the end of the name`},
		{"rostopic://:=x", `at position 11: expected a name`},
		{"rostopic::=rosservice", `at position 9: expected a name`},
		{"a:b:c:=d", `at position 3: expected "/" or ":="`},
		{"foo", `at position 3: expected "/" or ":="`},
		{"foo:=/", `at position 6: expected a name`},
		{"__foo:=x", `at position 0: expected a name`},
		{"a__b:=x", `at position 2: expected "/" or ":="`},
		{"/foo/*:=x", `at position 5: wildcards are not implemented in ROS`},
		{"**:=x", `at position 0: wildcards are not implemented in ROS`},
		{`foo:=\1`, `at position 5: backreferences are not implemented in ROS`},
	} {
		t.Run(c.text, func(t *testing.T) {
			if _, err := ParseRule(c.text); err == nil || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("%q: %v, want … %s", c.text, err, c.want)
			}
		})
	}
}

func TestSplitParameter(t *testing.T) {
	for text, want := range map[string][3]string{
		"foo:=bar":                              {"", "foo", "bar"},
		"node:foo.bar:=a:=b":                    {"node", "foo.bar", "a:=b"},
		"fizz123:=":                             {"", "fizz123", ""},
		"a__b.c:= x":                            {"", "a__b.c", " x"},
		"qos_overrides./a/b.publisher.depth:=5": {"", "qos_overrides./a/b.publisher.depth", "5"},
	} {
		t.Run(text, func(t *testing.T) {
			node, name, value, err := SplitParameter(text)
			if got := [3]string{node, name, value}; err != nil || got != want {
				t.Errorf("%s: %q, %v", text, got, err)
			}
		})
	}
	for _, c := range []struct{ text, want string }{
		{"", "position 0: expected a parameter name"},
		{":", "position 0"},
		{"1", "position 0"},
		{"~:=", "position 0"},
		{":=", "position 0"},
		{"::=", "position 0"},
		{":=bar", "position 0"},
		{"1:=", "position 0"},
		{"__node:=/foo", "position 0"},
		{"}foo:=/bar", "position 0"},
		{"f oo:=/bar", `position 1: expected ":=" or "."`},
		{"a.:=1", "position 2: expected a parameter name"},
		{"a:b", "position 3"},
		{"foo", "position 3"},
		{"*:=1", "position 0"},
	} {
		t.Run(c.text, func(t *testing.T) {
			if _, _, _, err := SplitParameter(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: %v, want %s", c.text, err, c.want)
			}
		})
	}
}

// TestResolved: a resolved name is a full name, and resolving it again without rules does not
// change it.
func TestResolved(t *testing.T) {
	token := rapid.StringMatching(`[a-zA-Z_][a-zA-Z0-9_]{0,3}`)
	rapid.Check(t, func(t *rapid.T) {
		n := Node{Name: token.Draw(t, "node"), Namespace: "/"}
		for range rapid.IntRange(0, 3).Draw(t, "depth") {
			n.Namespace = Join(n.Namespace, token.Draw(t, "namespace"))
		}
		name := rapid.SampledFrom([]string{"", "~/", "/", "{node}/", "{ns}/", "a_{node}/"}).Draw(t, "start") +
			strings.Join(rapid.SliceOfN(token, 1, 3).Draw(t, "tokens"), "/")
		full, err := n.Topic(name)
		if strings.HasPrefix(name, "{ns}") && n.Namespace == "/" {
			if err == nil {
				t.Fatalf("%s in / is //…", name)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		again, err := n.Topic(full)
		if err != nil || again != full {
			t.Fatalf("%s became %s, %v", full, again, err)
		}
	})
}

func FuzzRule(f *testing.F) {
	for _, seed := range []string{"foo:=bar", "n:rostopic://~/a:=/b", "__ns:=/a/b", "n:__name:=x", "a__b:=c", "*:=x",
		`a:=\1`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRule(text)
		if err != nil {
			return
		}
		again, err := ParseRule(r.String())
		if err != nil || again != r {
			t.Fatalf("%q is %#v, again %#v, %v", text, r, again, err)
		}
		n, err := NewNode("", "me", []Rule{r})
		if err != nil {
			return
		}
		if full, err := n.Topic(r.From); err == nil && CheckTopic(full) != nil {
			t.Fatalf("%q makes %q", text, full)
		}
	})
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"a", "~/b", "{node}", "/{ns}/a", "{}", "a//b", "{node}{x", "é"} {
		f.Add(seed)
	}
	n := Node{Name: "me", Namespace: "/ns"}
	f.Fuzz(func(t *testing.T, name string) {
		if full, err := n.Topic(name); err == nil && (CheckTopic(full) != nil || full[0] != '/') {
			t.Fatalf("%q makes %q", name, full)
		}
	})
}
