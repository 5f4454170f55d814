// Package types describes the part of rclgo's package types that is used.
package types

import "unsafe"

type Message interface {
	CloneMsg() Message
	SetDefaults()
	GetTypeSupport() MessageTypeSupport
}

type MessageTypeSupport interface {
	New() Message
	PrepareMemory() unsafe.Pointer
	ReleaseMemory(p unsafe.Pointer)
	AsCStruct(dst unsafe.Pointer, src Message)
	AsGoStruct(dst Message, src unsafe.Pointer)
	TypeSupport() unsafe.Pointer
}

type ServiceTypeSupport interface {
	Request() MessageTypeSupport
	Response() MessageTypeSupport
	TypeSupport() unsafe.Pointer
}
