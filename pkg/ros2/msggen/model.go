// Package msggen generates Go from ROS 2 interface definitions (.msg, .srv and .action).
//
// It parses the definitions, resolves their references and computes their RIHS01 hashes (REP-2011).
// It writes one Go file per definition: a struct, its constants, a constructor with the defaults, and
// CDR code without reflection. It also joins a definition with those it refers to, as MCAP files
// have it.
package msggen

import (
	"fmt"
	"strings"
)

// Base is a field's type without array and bounds. Its value is the FIELD_TYPE number in
// type_description_interfaces/msg/FieldType.
type Base int

// The base types. char is an alias of uint8 in ROS 2, byte is not: it hashes differently.
const (
	Nested  Base = 1
	Int8    Base = 2
	Uint8   Base = 3
	Int16   Base = 4
	Uint16  Base = 5
	Int32   Base = 6
	Uint32  Base = 7
	Int64   Base = 8
	Uint64  Base = 9
	Float32 Base = 10
	Float64 Base = 11
	Bool    Base = 15
	Byte    Base = 16
	String  Base = 17
	WString Base = 18
)

// boundedString is added to FieldType's number for string<=N and wstring<=N.
const boundedString = 4

var bases = map[string]Base{
	"int8": Int8, "uint8": Uint8, "char": Uint8, "int16": Int16, "uint16": Uint16,
	"int32": Int32, "uint32": Uint32, "int64": Int64, "uint64": Uint64,
	"float32": Float32, "float64": Float64, "bool": Bool, "byte": Byte,
	"string": String, "wstring": WString,
}

// primitives are the base types except Nested.
var primitives = map[Base]struct {
	goType string
	codec  string // method of cdr.Encoder and cdr.Decoder
	size   int    // least bytes on the wire; an empty string may come without its NUL
}{
	Int8: {"int8", "Int8", 1}, Uint8: {"uint8", "Uint8", 1}, Byte: {"uint8", "Uint8", 1},
	Int16: {"int16", "Int16", 2}, Uint16: {"uint16", "Uint16", 2},
	Int32: {"int32", "Int32", 4}, Uint32: {"uint32", "Uint32", 4},
	Int64: {"int64", "Int64", 8}, Uint64: {"uint64", "Uint64", 8},
	Float32: {"float32", "Float32", 4}, Float64: {"float64", "Float64", 8}, Bool: {"bool", "Bool", 1},
	String: {"string", "String", 4}, WString: {"string", "WString", 4},
}

// Array is the kind of a field's repetition. Its value is added to FieldType's number.
type Array int

// The kinds of repetition: T, T[N], T[<=N], T[].
const (
	Single    Array = 0
	Fixed     Array = 48
	Bounded   Array = 96
	Unbounded Array = 144
)

// Type is the type of a field or constant.
type Type struct {
	Base        Base
	Ref         string // full name of a Nested type, such as "std_msgs/msg/Header"
	StringBound int    // N of string<=N, 0 without a bound
	Array       Array
	Size        int // N of T[N] and T[<=N]
}

// ID is the type's number in type_description_interfaces/msg/FieldType.
func (t Type) ID() uint8 {
	id := uint8(int(t.Base) + int(t.Array))
	if t.StringBound > 0 {
		id += boundedString
	}
	return id
}

// String is the type in the syntax of definitions: "string<=8[<=3]".
func (t Type) String() string {
	s := t.Ref
	for name, b := range bases {
		if b == t.Base && name != "char" {
			s = name
		}
	}
	if t.StringBound > 0 {
		s += fmt.Sprintf("<=%d", t.StringBound)
	}
	switch t.Array {
	case Fixed:
		s += fmt.Sprintf("[%d]", t.Size)
	case Bounded:
		s += fmt.Sprintf("[<=%d]", t.Size)
	case Unbounded:
		s += "[]"
	}
	return s
}

// Field is one field of a message.
type Field struct {
	Name    string
	Type    Type
	Default any      // nil without one; bool, int64, uint64, float64, string, or []any of these
	Doc     []string // comment lines above and after it, without "#"
}

// Constant is one constant of a message.
type Constant struct {
	Name  string
	Type  Type
	Value any // bool, int64, uint64, float64 or string
	Doc   []string
}

// Message is a .msg file, or one half of a .srv file.
type Message struct {
	Name      string // full name: "std_msgs/msg/Header", "std_srvs/srv/Empty_Request"
	Doc       []string
	Fields    []Field
	Constants []Constant
	Text      string // its source
}

// Service is a .srv file.
type Service struct {
	Name     string // full name: "std_srvs/srv/Empty"
	Doc      []string
	Request  *Message
	Response *Message
}

// SplitName splits "std_msgs/msg/Header".
func SplitName(full string) (pkg, kind, name string, err error) {
	parts := strings.Split(full, "/")
	if len(parts) != 3 || !packageName.MatchString(parts[0]) || !typeName.MatchString(parts[2]) {
		return "", "", "", fmt.Errorf("type name %q, expected package/msg/Name", full)
	}
	return parts[0], parts[1], parts[2], nil
}
