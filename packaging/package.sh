#!/usr/bin/env bash
# usage: packaging/package.sh ARCH: build/package/vnd_VERSION_ARCH.deb of this checkout; ARCH is amd64 or arm64.
# Of another processor than this one it takes what is linked from that processor's packages, into build/package.
set -euo pipefail
cd "$(dirname "$0")/.."
arch=${1:?ARCH: expected amd64 or arm64}
case $arch in
amd64) triplet=x86_64-linux-gnu ;;
arm64) triplet=aarch64-linux-gnu ;;
*) echo "package: ARCH is $arch, expected amd64 or arm64" >&2; exit 1 ;;
esac
out=$PWD/build/package/$arch
rm -rf "$out"
mkdir -p "$out"/{bin,ament,completion,etc,man}

version=$(sed -n 's:.*<version>\(.*\)</version>.*:\1:p' package.xml)
SOURCE_DATE_EPOCH=$(stat -c %Y package.xml)
if commit=$(git rev-parse --short HEAD 2>/dev/null); then
	SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
	version+=+git$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M).$commit
fi
export SOURCE_DATE_EPOCH

go build -o "$out/vnd" ./nodes/vnd # of this processor

base=build/package/base-${commit:-none}.vnd # with it the demo flies at once
[ -e "$base" ] || "$out/vnd" train --task hover,track --seed 1 --out "$base"

export CGO_ENABLED=1 GOARCH=$arch CC=gcc CXX=g++
libraries=() headers=()
if [ "$arch" != "$(dpkg --print-architecture)" ]; then
	# shellcheck source=packaging/cross.sh
	. packaging/cross.sh
fi
echo "building vnd $version for $arch" >&2
go build -buildmode=pie -ldflags='-s -w' -o "$out/bin/" ./nodes/vnd ./nodes/vnd_nodes
for main in nodes/*/main.go; do
	program=$(basename "$(dirname "$main")")
	[ -e "$out/bin/$program" ] || ln -s vnd_nodes "$out/bin/$program"
done
$CXX -std=c++17 -O2 -Wall -Wextra -Wno-deprecated-declarations -fPIC -shared -fvisibility=hidden -s \
	-Ipkg/ros2/dds/native "${headers[@]}" -o "$out/bin/libvnd_fastdds.so" \
	pkg/ros2/dds/fastdds/shim/fastdds.cpp "${libraries[@]}" -lfastrtps

# The command line says itself what it takes.
vnd=$out/vnd
table=$("$vnd" completion bash)
echo "$table" >"$out/completion/vnd"
printf '%s\n' '#compdef vnd' 'autoload -U +X bashcompinit && bashcompinit' "$table" \
	'_bash_complete -o default -F _vnd_complete' >"$out/completion/_vnd"
for command in vnd $(sed -n "s/^\t'vnd \([a-z ]*\)') echo.*/vnd-\1/p" <<<"$table" | tr ' ' -); do
	page=$out/man/$command.1
	words=${command#vnd}
	help="${words//-/ } --help"
	# shellcheck disable=SC2086 # words of a command
	description=$("$vnd" $help | awk 'BEGIN { RS = "" } NR == 2 { gsub("\n", " "); sub("[.]$", ""); print }')
	help2man --no-info --version-string="$version" --manual=vnd --source=vnd --name="$description" --help-option="$help" \
		"$vnd" | sed "s/^\.TH VND /.TH ${command^^} /" >"$page"
	[ -s "$page" ] || { echo "package: help2man made no page of $command" >&2; exit 1; }
done

rm "$vnd"
cp -r launch params package.xml packaging/debian "$out"
mv "$out/debian/hardening.conf" "$out/"
cp "$base" "$out/params/demo/base.vnd"
rm "$out/params/demo/flights/LICENSE" # debian/copyright has it
cp params/lab.yaml "$out/etc/vnd.yaml"
cp params/airframe.yaml "$out/etc/airframe.yaml"
: >"$out/ament/vnd"
printf 'vnd (%s) unstable; urgency=medium\n\n  * Built from the sources; CHANGELOG.md has what changed.\n\n -- %s  %s\n' "$version" \
	"$(sed -n 's/^Maintainer: //p' packaging/debian/control)" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" >"$out/debian/changelog"
cd "$out"
dpkg-buildpackage --build=binary --no-check-builddeps --no-sign --host-arch="$arch" --target-arch="$arch" >build.log 2>&1 ||
	{ tail -20 build.log >&2; exit 1; }
ls -l ../vnd_*_"$arch".deb
