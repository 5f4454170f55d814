// Package msgs has the project's own ROS messages (package vnd) as Go types. It has a registry of all
// messages and services that the project can read. Standard ROS packages are in the folders beside,
// each a Go package of the same name without underscores.
//
// msggen generates the Go files from the .msg and .srv files. Standard definitions are those of ROS 2
// Jazzy and PX4 1.18, but for VehicleControlMode of PX4 1.17; the folders humble and lyrical have those of
// these distributions that differ.
package msgs

//go:generate -command msggen go run vnd/pkg/ros2/msggen/cmd/msggen
//go:generate msggen -import vnd/msgs -own vnd .
//go:generate msggen -import vnd/msgs/humble -base . -base-import vnd/msgs -base-own vnd humble
//go:generate msggen -import vnd/msgs/lyrical -base . -base-import vnd/msgs -base-own vnd lyrical
//go:generate msggen -import vnd/msgs/internal -base . -base-import vnd/msgs -base-own vnd internal

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	lifecyclemsgs "vnd/msgs/lyrical/lifecycle_msgs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/rmw"
)

// sources are the definitions, by the paths in the registry's entries.
//
//go:embed msg/*.msg srv/*.srv action/*.action */msg/*.msg */srv/*.srv */action/*.action lyrical/*/msg/*.msg
var sources embed.FS

// entry describes a message, or one half of a service, or a message of an action.
type entry struct {
	hash   string
	source string   // path in sources
	text   string   // its own source, of a message of an action
	refs   []string // all types that it refers to
	create func() cdr.Message
}

// serviceEntry describes a service or an action.
type serviceEntry struct {
	hash   string
	source string // path in sources
}

// Type is a message type, or the request or response of a service.
type Type struct {
	Name  string // ROS name: "geometry_msgs/msg/Pose", "std_srvs/srv/Empty_Request"
	Hash  string // RIHS01 type hash of ROS 2 Jazzy
	entry entry
}

// Service is a service type.
type Service struct {
	Name     string // ROS name: "std_srvs/srv/Empty"
	Hash     string // RIHS01 type hash of ROS 2 Jazzy
	Request  Type
	Response Type
}

// Lookup finds a message type, or a service's request or response, by its ROS name.
func Lookup(name string) (Type, bool) {
	e, ok := types[name]
	return Type{Name: name, Hash: e.hash, entry: e}, ok
}

// LookupIn is Lookup in another distribution than Jazzy.
func LookupIn(distro, name string) (Type, bool) {
	if e, ok := lyrical[name]; ok && rmw.AfterKilted(distro) {
		return Type{Name: name, Hash: e.hash, entry: e}, true
	}
	return Lookup(name)
}

// lyrical are the messages that are others in Lyrical.
var lyrical = map[string]entry{
	"lifecycle_msgs/msg/TransitionEvent": {
		hash:   "RIHS01_78b19e2be41a797fc009c96bda68944182edabec7852cccd928a40bc06f6f9d7",
		source: "lyrical/lifecycle_msgs/msg/TransitionEvent.msg",
		refs:   []string{"builtin_interfaces/msg/Time", "lifecycle_msgs/msg/Transition", "lifecycle_msgs/msg/State"},
		create: func() cdr.Message { return lifecyclemsgs.NewTransitionEvent() },
	},
}

// LookupService finds a service type by its ROS name.
func LookupService(name string) (Service, bool) {
	e, ok := services[name]
	if !ok {
		return Service{}, false
	}
	request, _ := Lookup(name + "_Request")
	response, _ := Lookup(name + "_Response")
	return Service{Name: name, Hash: e.hash, Request: request, Response: response}, true
}

// Action is an action type.
type Action struct {
	Name                   string // ROS name: "example_interfaces/action/Fibonacci"
	Hash                   string // RIHS01 type hash of ROS 2 Jazzy
	Goal, Result, Feedback Type
	SendGoal, GetResult    Service
	FeedbackMessage        Type
}

// LookupAction finds an action type by its ROS name.
func LookupAction(name string) (a Action, ok bool) {
	e, ok := actions[name]
	if !ok {
		return a, false
	}
	a.Name, a.Hash = name, e.hash
	a.Goal, _ = Lookup(name + "_Goal")
	a.Result, _ = Lookup(name + "_Result")
	a.Feedback, _ = Lookup(name + "_Feedback")
	a.SendGoal, _ = LookupService(name + "_SendGoal")
	a.GetResult, _ = LookupService(name + "_GetResult")
	a.FeedbackMessage, _ = Lookup(name + "_FeedbackMessage")
	return a, true
}

// Names are the sorted names of all types that Lookup finds.
func Names() []string {
	return slices.Sorted(maps.Keys(types))
}

// New is a message of the type, with the definition's defaults.
func (t Type) New() cdr.Message { return t.entry.create() }

// DDSName is the type's name on the wire.
func (t Type) DDSName() string { return DDSName(t.Name) }

// DDSName is the wire name of a ROS type: "geometry_msgs::msg::dds_::Pose_".
func DDSName(name string) string {
	pkg, rest, _ := strings.Cut(name, "/")
	kind, base, _ := strings.Cut(rest, "/")
	return pkg + "::" + kind + "::dds_::" + base + "_"
}

// separator is the line between definitions in MCAP's "ros2msg" encoding.
var separator = strings.Repeat("=", 80)

// Definition is the type's source in MCAP's "ros2msg" encoding: its own text, then those of all types
// that it refers to. Each of them follows a line of 80 "=" and a line "MSG: package/Name".
func (t Type) Definition() string {
	var b strings.Builder
	b.WriteString(t.text())
	for _, ref := range t.entry.refs {
		r, _ := Lookup(ref)
		fmt.Fprintf(&b, "%s\nMSG: %s\n%s", separator, strings.Replace(ref, "/msg/", "/", 1), r.text())
	}
	return b.String()
}

// text is the type's own source, which ends in a newline unless it is empty.
func (t Type) text() string {
	if t.entry.text != "" {
		return t.entry.text
	}
	data, err := sources.ReadFile(t.entry.source)
	if err != nil {
		return ""
	}
	request, response, _ := strings.Cut("\n"+string(data), "\n---\n")
	switch {
	case strings.HasSuffix(t.Name, "_Request"):
		return strings.TrimPrefix(request+"\n", "\n")
	case strings.HasSuffix(t.Name, "_Response"):
		return response
	default:
		return string(data)
	}
}
