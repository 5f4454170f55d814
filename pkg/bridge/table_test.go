package bridge

import (
	"math"
	"strings"
	"testing"

	geometrymsgs "vnd/msgs/geometry_msgs"
)

// TestTablePoses: what lies on a table is read as it was written; what cannot lie there is refused in one line.
func TestTablePoses(t *testing.T) {
	for _, heading := range []float64{0, 1, -2.5, math.Pi / 2} {
		stamp, at, err := FromTable(OnTable(7e9, "table", [3]float64{0.1, -0.2, heading}, 0.04), "table")
		if err != nil || stamp != 7e9 || math.Abs(at[0]-0.1)+math.Abs(at[1]+0.2)+math.Abs(at[2]-heading) > 1e-12 {
			t.Errorf("heading %g: %v at %d, %v", heading, at, stamp, err)
		}
	}
	typed := OnTable(1, "table", [3]float64{}, 0)
	typed.Pose.Orientation = geometrymsgs.Quaternion{Z: 0.7, W: 0.7}
	if _, at, err := FromTable(typed, "table"); err != nil || math.Abs(at[2]-math.Pi/2) > 1e-12 {
		t.Errorf("a heading as people type it: %v, %v", at, err)
	}
	for want, change := range map[string]func(*geometrymsgs.PoseStamped){
		`frame_id is "map", expected "table"`: func(m *geometrymsgs.PoseStamped) { m.Header.FrameID = "map" },
		"tilted by 1.57 rad": func(m *geometrymsgs.PoseStamped) {
			m.Pose.Orientation = geometrymsgs.Quaternion{X: math.Sqrt(0.5), W: math.Sqrt(0.5)}
		},
		"quaternion of length 0": func(m *geometrymsgs.PoseStamped) { m.Pose.Orientation = geometrymsgs.Quaternion{} },
		"position NaN":           func(m *geometrymsgs.PoseStamped) { m.Pose.Position.X = math.NaN() },
		"position 0, 1e+300":     func(m *geometrymsgs.PoseStamped) { m.Pose.Position.Y = 1e300 },
	} {
		m := OnTable(1, "table", [3]float64{}, 0)
		change(m)
		if _, _, err := FromTable(m, "table"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}
