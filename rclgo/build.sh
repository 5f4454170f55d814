#!/bin/sh
# Builds the programs of nodes/ on rclgo into the folder $1; $2 is a folder for what is made on the way.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
work=$2
. "$top/rclgo/environment.sh"
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$top"
exec go build -overlay "$work/overlay.json" -ldflags "-X vnd/rclgo/overrcl.distro=$ROS_DISTRO" -o "$out/" ./nodes/...
