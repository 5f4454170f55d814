#!/usr/bin/env bash
# usage: packaging/emulated.sh PACKAGE…: go test -short of packages built for arm64, with C and Cyclone DDS, in qemu-aarch64.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=1 GOARCH=arm64 CC CXX
arch=arm64 triplet=aarch64-linux-gnu
for tool in $triplet-g++ qemu-aarch64; do
	command -v "$tool" >/dev/null || {
		echo "emulated: $tool is missing: apt-get install g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" >&2
		exit 1
	}
done
# shellcheck source=packaging/cross.sh
. packaging/cross.sh
export QEMU_LD_PREFIX=$root
format=/proc/sys/fs/binfmt_misc/qemu-aarch64
[ -e "$format" ] || echo "emulated: $format is missing, so tests that start programs fail: apt-get install qemu-user-binfmt" >&2
prefix=/etc/qemu-binfmt/aarch64
[ -e "$prefix" ] || echo "emulated: $prefix is missing, so tests that clear the environment fail: ln -s $root $prefix" >&2
go test -short -timeout 90m -exec qemu-aarch64 "$@"
