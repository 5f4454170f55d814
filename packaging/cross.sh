# shellcheck shell=bash
# Sourced with arch and triplet set: what go build needs to link C for a processor that is not this one's.

# A folder with the libraries and headers of another processor, as its packages have them; apt's own state is left alone.
sysroot() {
	local root=$PWD/build/package/sysroot-$arch state=$PWD/build/package/apt-$arch
	[ ! -e "$root/complete" ] || { echo "$root"; return; }
	rm -rf "$root" "$state"
	mkdir -p "$root" "$state"/{lists/partial,archives/partial}
	: >"$state/status"
	local apt=(apt-get -q -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o Dir::State="$state"
		-o Dir::State::Lists="$state/lists" -o Dir::State::status="$state/status" -o Dir::Cache="$state"
		-o Dir::Cache::Archives="$state/archives" -o Debug::NoLocking=1 -o APT::Sandbox::User=root)
	"${apt[@]}" update >&2
	"${apt[@]}" install -y --download-only --no-install-recommends cyclonedds-dev libfastrtps-dev >&2
	for package in "$state"/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
	rm -rf "$state"
	touch "$root/complete"
	echo "$root"
}

root=$(sysroot)
CC=$triplet-gcc CXX=$triplet-g++ libraries=("-L$root/usr/lib/$triplet" "-Wl,-rpath-link,$root/usr/lib/$triplet")
headers=(-idirafter "$root/usr/include/$triplet" -idirafter "$root/usr/include")
export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/$triplet/pkgconfig
export CGO_CFLAGS="-O2 -g ${headers[*]}" CGO_LDFLAGS="-O2 -g ${libraries[*]}"
