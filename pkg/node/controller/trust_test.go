package controller

import (
	"crypto/ed25519"
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"vnd/msgs"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/lifecycle"
	"vnd/pkg/vnd/bundle"
)

func TestOnlyBundlesOfTheLabsKeyFly(t *testing.T) {
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, stranger, _ := ed25519.GenerateKey(nil)
	h := newHarness(t, "-p", "bundle_key:="+bundle.FormatKey(public))
	h.change(lifecycle.Configure, lifecycle.Activate)
	bundles := must(ros.NewPublisher[msgs.Bundle](h.n, "bundle", node.LatchedQoS()))(t)
	send := func(name string, by ed25519.PrivateKey, issued int64) {
		t.Helper()
		err := bundles.Publish(h.bundle(name, func(m *msgs.Bundle) {
			if by == nil {
				return
			}
			m.Data = must(must(bundle.Decode(name, m.Data))(t).EncodeSigned(by, issued))(t)
			m.Sha256 = sha256.Sum256(m.Data)
		}))
		if err != nil {
			t.Fatal(err)
		}
	}
	send("a.vnd", nil, 0)
	h.says(diagnostics.Warn, "is not signed, expected the signature of bundle_key")
	send("a.vnd", stranger, 1)
	h.says(diagnostics.Warn, "is signed by ed25519:")
	send("a.vnd", key, 1)
	h.says(diagnostics.Warn, "waiting for a state on /mocap/pose")
	send("b.vnd", key, 2)
	h.logs("bundle " + must(bundle.Read(path("b.vnd")))(t).ID + " for")
	send("a.vnd", key, 1)
	h.says(diagnostics.Warn, "was issued before bundle")
	if f, _ := h.c.flying(); f == nil || f.ID != must(bundle.Read(path("b.vnd")))(t).ID {
		t.Error("a bundle of the past flies")
	}
}

func TestBundleFileMustBeSignedWhereThereIsAKey(t *testing.T) {
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "signed.vnd")
	if err := os.WriteFile(file, must(must(bundle.Read(path("a.vnd")))(t).EncodeSigned(key, 1))(t), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file, unsigned string
		flies          bool
	}{
		"unsigned":            {path("a.vnd"), "false", false},
		"unsigned, asked for": {path("a.vnd"), "true", true},
		"signed":              {file, "false", true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, "-p", "bundle_key:="+bundle.FormatKey(public), "-p", "bundle_file:="+c.file, "-p",
				"unsigned_bundles:="+c.unsigned)
			if err := h.c.Change(lifecycle.Configure); (err == nil) != c.flies {
				t.Errorf("error %v", err)
			}
		})
	}
}
