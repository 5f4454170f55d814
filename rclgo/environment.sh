# Sourced by build.sh and test.sh: what Go needs to build on rclgo in the ROS 2 workspace that is sourced, $top being the
# checkout and $work a folder for what is made on the way.
flags=$(cd "$top" && go run pkg/ros2/ament/flags.go)
eval "$flags"
mkdir -p "$work"
work=$(cd "$work" && pwd)
cat >"$work/go.work" <<END
go 1.26.0

use (
	"$top"
	"$top/rclgo"
)
END
# The one file in which these programs differ from those of make build.
cat >"$work/overlay.json" <<END
{"Replace": {"$top/pkg/ros2/ros/preferred.go": "$top/rclgo/_overlay/preferred.go"}}
END
export GOWORK="$work/go.work"
# The public module proxy does not serve rclgo; go.sum holds what it is to be.
export GOPRIVATE="${GOPRIVATE:+$GOPRIVATE,}github.com/tiiuae/rclgo"
# Cyclone DDS comes in through rcl, if at all: two of them in a process would be one too many.
export GOFLAGS="${GOFLAGS:-} -tags=nocyclone"
