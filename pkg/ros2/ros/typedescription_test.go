package ros_test

import (
	"fmt"
	"testing"

	"vnd/msgs"
	tdi "vnd/msgs/type_description_interfaces"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
)

// A node of Jazzy describes the types that it uses; one of Humble has no such service.
func TestTypeDescription(t *testing.T) {
	d := inproc.NewDomain()
	n := newNode(t, join(t, d, map[string]string{"ROS_DISTRO": "jazzy"}), "new")
	publisher(t, n, "x")
	spin(t, n.Context(), 0)
	c := must(ros.NewClient[tdi.GetTypeDescriptionRequest, tdi.GetTypeDescriptionResponse](n,
		"~/get_type_description"))(t)
	ctx := within(t)
	if err := c.WaitForService(ctx); err != nil {
		t.Fatal(err)
	}
	known, _ := msgs.Lookup("std_msgs/msg/String")
	for _, q := range []struct {
		request tdi.GetTypeDescriptionRequest
		failure string
		sources int
	}{
		{tdi.GetTypeDescriptionRequest{TypeName_: known.Name, TypeHash: known.Hash, IncludeTypeSources: true}, "", 1},
		{tdi.GetTypeDescriptionRequest{TypeName_: known.Name, TypeHash: known.Hash}, "", 0},
		{tdi.GetTypeDescriptionRequest{TypeName_: known.Name, TypeHash: "RIHS01_0"},
			"std_msgs/msg/String has the hash " + known.Hash + " here, not RIHS01_0", 0},
		{tdi.GetTypeDescriptionRequest{TypeName_: "std_msgs/msg/Bool"},
			`type "std_msgs/msg/Bool" is not in use by node /new`, 0},
	} {
		t.Run(fmt.Sprint(q.request), func(t *testing.T) {
			r := must(c.Call(ctx, &q.request))(t)
			if r.Successful != (q.failure == "") || r.FailureReason != q.failure || len(r.TypeSources) != q.sources {
				t.Errorf("%+v: %+v", q.request, r)
			}
			if r.Successful && r.TypeDescription.TypeDescription.TypeName_ != known.Name {
				t.Errorf("described %+v", r.TypeDescription)
			}
		})
	}
	old := newNode(t, join(t, inproc.NewDomain(), nil), "old")
	g := must(old.Context().Graph().Of(rmw.NodeName{Namespace: "/", Name: "old", Enclave: "/"}))(t)
	if _, ok := g.Servers["/old/get_type_description"]; ok || old.Parameters().Has("start_type_description_service") {
		t.Error("a node of Humble describes types")
	}
}
