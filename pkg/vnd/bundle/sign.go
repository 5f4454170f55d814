package bundle

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Signature is who vouches for a bundle. It covers the header, and with it the SHA-256 of the tensors.
type Signature struct {
	Key    ed25519.PublicKey
	Issued int64 // ns since 1970; it grows from one bundle that a learner publishes to the next
}

// signedKeys are the metadata of a signature: all of them, or none.
var signedKeys = []string{"issued", "signature", "signed_by"}

// signaturePlace opens the place of the signature in the header, see headerSum.
const signaturePlace = `"signature":"`

// blankSignature stands for the signature while it is made.
var blankSignature = strings.Repeat("0", 2*ed25519.SignatureSize)

// signedPrefix keeps a signature of a bundle from serving for anything else.
const signedPrefix = "vnd.bundle signature 1\n"

// EncodeSigned is Encode with the signature of a key.
func (b *Bundle) EncodeSigned(key ed25519.PrivateKey, issued int64) ([]byte, error) {
	if len(key) != ed25519.PrivateKeySize || issued <= 0 {
		return nil, fmt.Errorf("bundle: signed by a key of %d bytes at %d", len(key), issued)
	}
	return b.encode(func(meta map[string]string) {
		meta["signed_by"] = hex.EncodeToString(key.Public().(ed25519.PublicKey))
		meta["issued"] = strconv.FormatInt(issued, 10)
		meta["signature"] = blankSignature
	}, func(head []byte) {
		at := bytes.Index(head, []byte(signaturePlace)) + len(signaturePlace)
		hex.Encode(head[at:], ed25519.Sign(key, append([]byte(signedPrefix), head...)))
	})
}

// signature is that of the metadata, nil where there is none. It is refused where it does not fit the header, whose
// own checksum is right.
func (h *header) signature(head []byte) (*Signature, error) {
	count := 0
	for _, key := range signedKeys {
		if _, ok := h.meta[key]; ok {
			count++
		}
	}
	if count == 0 {
		return nil, nil
	}
	key, err := hex.DecodeString(h.meta["signed_by"])
	sig, bad := hex.DecodeString(h.meta["signature"])
	issued, noTime := strconv.ParseInt(h.meta["issued"], 10, 64)
	if count != len(signedKeys) || errors.Join(err, bad, noTime) != nil || issued <= 0 ||
		len(key) != ed25519.PublicKeySize || len(sig) != ed25519.SignatureSize ||
		bytes.Count(head, []byte(signaturePlace)) != 1 {
		return nil, errors.New("the signature is not one: expected signed_by, issued and signature")
	}
	blank := append([]byte(signedPrefix), head...)
	for place, zeros := range map[string]string{signaturePlace: blankSignature, headerSum: blankSum} {
		copy(blank[bytes.Index(blank, []byte(place))+len(place):], zeros)
	}
	if !ed25519.Verify(key, blank, sig) {
		return nil, errors.New("the signature does not fit: the bundle was changed after it was signed")
	}
	return &Signature{Key: key, Issued: issued}, nil
}

// Trust decides whose bundles may fly. It is for one goroutine.
type Trust struct {
	Key      ed25519.PublicKey // nil takes all bundles
	Unsigned bool              // takes those without a signature too

	newest Signature
	id     string // of the bundle with the newest signature
}

// Check refuses a bundle of a message that is not signed by the key, or issued before the newest that it took: a
// bundle of the past that somebody sends again.
func (t *Trust) Check(b *Bundle) error {
	if err := t.CheckFile(b); err != nil || t.Key == nil || b.Signature == nil {
		return err
	}
	at := b.Signature.Issued
	if at < t.newest.Issued || at == t.newest.Issued && b.ID != t.id {
		return fmt.Errorf("bundle %s was issued before bundle %s, the newest: it is not taken again", b.ID, t.id)
	}
	t.newest, t.id = *b.Signature, b.ID
	return nil
}

// CheckFile is Check for a file that a parameter names: it may be of any time.
func (t *Trust) CheckFile(b *Bundle) error {
	switch s := b.Signature; {
	case t.Key == nil || s == nil && t.Unsigned:
		return nil
	case s == nil:
		return fmt.Errorf("bundle %s is not signed, expected the signature of bundle_key (vnd key sign makes one)",
			b.ID)
	case !t.Key.Equal(s.Key):
		return fmt.Errorf("bundle %s is signed by %s, expected bundle_key %s", b.ID, FormatKey(s.Key), FormatKey(t.Key))
	}
	return nil
}

// knownKeys are all keys that metadata may have.
var knownKeys = slices.Concat(metadataKeys, signedKeys)

// unknownKey returns the first key, by name, that is not one of ours; "" where there is none.
func (h *header) unknownKey() string {
	for _, key := range slices.Sorted(maps.Keys(h.meta)) {
		if !slices.Contains(knownKeys, key) {
			return key
		}
	}
	return ""
}
