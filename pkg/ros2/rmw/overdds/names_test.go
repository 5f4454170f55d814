package overdds

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestNamesGolden: names on the wire of rmw_cyclonedds_cpp of Humble.
func TestNamesGolden(t *testing.T) {
	if got := mangleTopic("/drone1/chatter"); got != "rt/drone1/chatter" {
		t.Error(got)
	}
	if got := mangleType("std_msgs/msg/String", ""); got != "std_msgs::msg::dds_::String_" {
		t.Error(got)
	}
	for _, c := range []struct{ service, typ, request, requestType, reply, replyType string }{
		{"/drone1/arm", "std_srvs/srv/SetBool", "rq/drone1/armRequest", "std_srvs::srv::dds_::SetBool_Request_",
			"rr/drone1/armReply", "std_srvs::srv::dds_::SetBool_Response_"},
		{"/fibo/_action/send_goal", "test_msgs/action/Fibonacci_SendGoal",
			"rq/fibo/_action/send_goalRequest", "test_msgs::action::dds_::Fibonacci_SendGoal_Request_",
			"rr/fibo/_action/send_goalReply", "test_msgs::action::dds_::Fibonacci_SendGoal_Response_"},
	} {
		t.Run(c.service, func(t *testing.T) {
			request, reply := mangleService(c.service)
			if request != c.request || reply != c.reply {
				t.Errorf("%s: %s, %s", c.service, request, reply)
			}
			if a, b := mangleType(c.typ, requestType), mangleType(c.typ, responseType); a != c.requestType ||
				b != c.replyType {
				t.Errorf("%s: %s, %s", c.typ, a, b)
			}
		})
	}
	for from, want := range map[string]string{
		"test_msgs::action::dds_::Fibonacci_FeedbackMessage_": "test_msgs/action/Fibonacci_FeedbackMessage",
		"action_msgs::msg::dds_::GoalStatusArray_":            "action_msgs/msg/GoalStatusArray",
		"HelloWorldData::Msg":                                 "HelloWorldData::Msg", // not ROS'
		"":                                                    "",
		"dds_::_":                                             "",
	} {
		t.Run(from, func(t *testing.T) {
			if got := demangleType(from); got != want {
				t.Errorf("demangleType(%q) = %q, want %q", from, got, want)
			}
		})
	}
}

// TestNotROS: names of plain DDS are neither topics nor services.
func TestNotROS(t *testing.T) {
	for _, name := range []string{"", "rt", "rtx", "rtopic", "/rt/x", "ros_discovery_info", "rq", "rr", "rq/x",
		"rr/xRequest", "rq/xReply", "HelloWorld"} {
		if got := demangleTopic(name) + demangleRequest(name) + demangleReply(name); got != "" {
			t.Errorf("%q is taken for %q", name, got)
		}
	}
	for _, typ := range []string{"", "std_msgs::msg::dds_::String_", "SetBool_Request_", "a::dds_::X_Response"} {
		if got := demangleServiceType(typ); got != "" {
			t.Errorf("type %q is taken for that of service %q", typ, got)
		}
	}
}

var (
	namePart = rapid.StringMatching(`[A-Za-z_][A-Za-z0-9_]{0,8}`)
	// Underscores are where demangling could go wrong: "_Request" and "dds_".
	typeName = rapid.Custom(func(t *rapid.T) string {
		return rapid.StringMatching(`[a-z][a-z0-9]{0,4}(_[a-z0-9]{1,4})?`).Draw(t, "package") + "/" +
			rapid.SampledFrom([]string{"msg", "srv", "action"}).Draw(t, "kind") + "/" +
			rapid.StringMatching(`[A-Z][A-Za-z0-9]{0,8}(_Request|_Response|_SendGoal)?`).Draw(t, "type")
	})
)

// TestNamesRoundTrip: a mangled name is demangled to itself, and is of no other kind.
func TestNamesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := "/" + strings.Join(rapid.SliceOfN(namePart, 1, 4).Draw(t, "name"), "/")
		typ := typeName.Draw(t, "type")
		request, reply := mangleService(name)
		topic := mangleTopic(name)
		if demangleTopic(topic) != name || demangleRequest(request) != name || demangleReply(reply) != name {
			t.Fatalf("%s became %s, %s, %s", name, demangleTopic(topic), demangleRequest(request), demangleReply(reply))
		}
		if demangleRequest(topic)+demangleReply(topic)+demangleTopic(request)+demangleReply(request)+
			demangleTopic(reply)+demangleRequest(reply) != "" {
			t.Fatalf("%s is ambiguous", name)
		}
		if got := demangleType(mangleType(typ, "")); got != typ {
			t.Fatalf("type %s became %s", typ, got)
		}
		for _, part := range []string{requestType, responseType} {
			if got := demangleServiceType(mangleType(typ, part)); got != typ {
				t.Fatalf("service type %s became %s", typ, got)
			}
		}
	})
}

func FuzzDemangle(f *testing.F) {
	for _, r := range recording(f) {
		f.Add(r.change.Topic.Name)
		f.Add(r.change.Topic.Type)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if name := demangleTopic(s); name != "" && mangleTopic(name) != s {
			t.Errorf("topic %q of %q", name, s)
		}
		if name := demangleRequest(s); name != "" {
			if request, _ := mangleService(name); request != s {
				t.Errorf("request of %q of %q", name, s)
			}
		}
		if name := demangleReply(s); name != "" {
			if _, reply := mangleService(name); reply != s {
				t.Errorf("reply of %q of %q", name, s)
			}
		}
		demangleType(s)
		demangleServiceType(s)
	})
}
