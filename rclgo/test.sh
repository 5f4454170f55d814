#!/bin/sh
# Holds the middleware over rcl to what package rmw promises, with every RMW implementation of the workspace that is known
# here, on the loopback. $1 is a folder for what is made on the way.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
work=$1
. "$top/rclgo/environment.sh"
cd "$top/rclgo/overrcl"
go test -c -o "$work/overrcl.test" .
export CYCLONEDDS_URI="file://$PWD/testdata/cyclonedds.xml" FASTRTPS_DEFAULT_PROFILES_FILE="$PWD/testdata/fastdds.xml"
tried=
for rmw in rmw_cyclonedds_cpp rmw_fastrtps_cpp rmw_fastrtps_dynamic_cpp rmw_zenoh_cpp; do
	found=
	IFS=:
	for prefix in $AMENT_PREFIX_PATH; do
		[ ! -e "$prefix/share/ament_index/resource_index/packages/$rmw" ] || found=1
	done
	unset IFS
	if [ -z "$found" ]; then
		echo "$rmw: not in this workspace"
		continue
	fi
	echo "$rmw"
	RMW_IMPLEMENTATION=$rmw "$work/overrcl.test" -test.v -test.timeout 10m
	tried=1
done
[ -n "$tried" ] || { echo "rclgo: no RMW implementation that is known here" >&2; exit 1; }
