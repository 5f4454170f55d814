package msggen

import (
	"strings"
)

// initialisms are written in capitals in Go.
var initialisms = map[string]string{"id": "ID", "json": "JSON", "uri": "URI", "url": "URL", "uuid": "UUID"}

// methods are those of every generated type.
var methods = map[string]bool{"TypeName": true, "MarshalCDR": true, "UnmarshalCDR": true}

// GoName is the Go spelling of a lower_snake_case or UPPER_SNAKE_CASE name.
func GoName(snake string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(strings.ToLower(snake), "_") {
		if capital := initialisms[word]; capital != "" {
			b.WriteString(capital)
		} else if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// GoField is the Go name of a field. The name of a method gets an underscore.
func GoField(name string) string {
	goName := GoName(name)
	if methods[goName] {
		goName += "_"
	}
	return goName
}

// goType is the Go name of a message, in its own package.
func goType(full string) string {
	return strings.ReplaceAll(full[strings.LastIndexByte(full, '/')+1:], "_", "")
}

// goPackage is the Go package name of a ROS package.
func goPackage(pkg string) string {
	return strings.ReplaceAll(pkg, "_", "")
}

// fileName is the generated file of a definition. It has no underscore: Go reads some words after one
// as a build constraint.
func fileName(full string) string {
	return strings.ToLower(goType(full)) + ".gen.go"
}
