#!/usr/bin/env bash
# usage: packaging/try.sh SUITE DEB: in a clean Debian (bookworm, trixie) without Go and compiler the package is installed,
# and the demo flies. It prints the seconds that each takes. Needs root and debootstrap.
set -euo pipefail
suite=${1:?SUITE: expected bookworm or trixie} deb=${2:?DEB: expected a package}
[ "$(id -u)" = 0 ] || { echo "try: a chroot needs root" >&2; exit 1; }
root=$(mktemp -d "${TMPDIR:-/var/tmp}/vnd-$suite-XXXX")
chmod 755 "$root"
trap 'umount -q "$root"/{dev/shm,dev,proc}; rm -rf --one-file-system "$root"' EXIT
debootstrap --variant=minbase "$suite" "$root" >"$root.log" || { tail -3 "$root.log" >&2; exit 1; }
rm "$root.log"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"
cp /etc/resolv.conf "$root/etc/"
cp "$deb" "$root/tmp/vnd.deb"
chroot "$root" useradd --create-home robot
! chroot "$root" sh -c 'command -v go || command -v gcc' || { echo "try: $suite has a compiler" >&2; exit 1; }

chroot "$root" apt-get update -q >"$root/tmp/apt.log"
begin=$SECONDS
chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -qy /tmp/vnd.deb >>"$root/tmp/apt.log" 2>&1 ||
	{ tail -5 "$root/tmp/apt.log" >&2; exit 1; }
echo "$suite: installed in $((SECONDS - begin)) s"
begin=$SECONDS flies=""
while IFS= read -r line; do
	echo "    $line"
	[ -n "$flies" ] || [[ "$line" != *" sets in"* ]] || flies=$((SECONDS - begin))
done < <(chroot --userspec=robot "$root" env -C /home/robot HOME=/home/robot vnd demo --part flight --seconds 10 2>&1)
[ -n "$flies" ] || { echo "try: the demo did not fly" >&2; exit 1; }
[ -s "$root/home/robot/vnd_demo/flight/report.html" ] || { echo "try: the demo left no report" >&2; exit 1; }
echo "$suite: flies after $flies s"
