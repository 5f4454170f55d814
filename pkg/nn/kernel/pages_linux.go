package kernel

import (
	"syscall"
	"unsafe"
)

// huge asks for huge pages under x, before it is first touched: a tape is read and written from end to end, and with
// pages of 4 KiB the look-ups of addresses take a good part of that. Without them nothing but time is lost.
func huge(x []byte) {
	const page = 4096
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(x))) % page
	if n := uintptr(len(x)); n > skip+page {
		_ = syscall.Madvise(x[skip:n-(n-skip)%page], syscall.MADV_HUGEPAGE)
	}
}
