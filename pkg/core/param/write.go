package param

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
)

// Markdown returns the docs' table of the parameters of *ptr, with defaults.
func Markdown(ptr any) string {
	var b strings.Builder
	b.WriteString("| Parameter | Type | Default | Unit | Range | Meaning |\n")
	b.WriteString("|---|---|---|---|---|---|\n")
	for _, d := range Describe(ptr) {
		doc := d.Doc
		if d.ReadOnly {
			doc += " (read only)"
		}
		if d.File != "" {
			doc += " (in the " + d.File + " file)"
		}
		cells := []string{code(d.Name), d.Type, code(literal(d.Default)), d.Unit, d.allowed(), doc}
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(c, "|", `\|`)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	return b.String()
}

func code(s string) string { return "`" + s + "`" }

// allowed writes the range or the enumeration, "" for neither.
func (d Descriptor) allowed() string {
	if d.Enum != nil {
		return strings.Join(d.Enum, ", ")
	}
	return d.bounds()
}

// YAML returns a parameter file for node with the present value of every parameter of *ptr but those that another file
// holds (tag file). Above each is a comment with doc, unit, range and default, above each group its doc. Parse reads
// the file back to the same values.
func YAML(node string, ptr any) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:\n  %s:\n", node, marker)
	var open []string // groups of the line above
	for _, f := range mustFields(ptr) {
		if f.File != "" {
			continue
		}
		parts := strings.Split(f.Name, ".")
		groups := parts[:len(parts)-1]
		same := 0
		for same < min(len(open), len(groups)) && open[same] == groups[same] {
			same++
		}
		for i := same; i < len(groups); i++ {
			if doc := f.groups[i]; doc != "" {
				fmt.Fprintf(&b, "%s# %s\n", indent(i), doc)
			}
			fmt.Fprintf(&b, "%s%s:\n", indent(i), groups[i])
		}
		open = groups
		pad := indent(len(groups))
		fmt.Fprintf(&b, "%s# %s\n", pad, f.comment())
		fmt.Fprintf(&b, "%s%s: %s\n", pad, parts[len(parts)-1], literal(f.place.Interface()))
	}
	return b.String()
}

func indent(depth int) string { return strings.Repeat("  ", depth+2) }

func (d Descriptor) comment() string {
	notes := []string{"default " + literal(d.Default)}
	if d.Unit != "" {
		notes[0] += " " + d.Unit
	}
	if allowed := d.allowed(); allowed != "" {
		notes = append(notes, allowed)
	}
	return fmt.Sprintf("%s (%s)", d.Doc, strings.Join(notes, "; "))
}

// literal writes a value so that both YAML 1.1 and ROS read its type.
func literal(v any) string {
	switch v := v.(type) {
	case float64:
		return double(v)
	case string:
		return quoted(v)
	}
	if reflect.ValueOf(v).Kind() != reflect.Slice {
		return fmt.Sprint(v)
	}
	var items []string
	for _, x := range elements(v) {
		items = append(items, literal(x))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// double writes a point always: without it ROS reads 1 as an integer, and YAML 1.1 reads
// 1e-05 as a string.
func double(x float64) string {
	s := strconv.FormatFloat(x, 'g', -1, 64)
	if mantissa, exponent, ok := strings.Cut(s, "e"); ok {
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		return mantissa + "e" + exponent
	}
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// quoted writes a double-quoted YAML string, all on one line.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r) && r != '\ufeff':
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
