package bundle

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"
)

// keyPrefix opens a public key in parameters, so that no reader of YAML takes it for a number.
const keyPrefix = "ed25519:"

// FormatKey writes a public key as parameters have it.
func FormatKey(key ed25519.PublicKey) string { return keyPrefix + hex.EncodeToString(key) }

// ParseKey reads a public key as FormatKey writes it.
func ParseKey(text string) (ed25519.PublicKey, error) {
	digits, ok := strings.CutPrefix(text, keyPrefix)
	key, err := hex.DecodeString(digits)
	if !ok || err != nil || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%.80q is no key, expected %s and %d hexadecimal digits (vnd key show prints it)", text,
			keyPrefix, 2*ed25519.PublicKeySize)
	}
	return key, nil
}

const pemType = "PRIVATE KEY"

// NewKey writes a new private key to a file, PKCS #8 in PEM, which must not be there yet. Its owner alone may read it.
func NewKey(path string) (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	err = pem.Encode(f, &pem.Block{Type: pemType, Bytes: der})
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return key, nil
}

// ReadKey reads the private key in a file. A file that others may read is refused.
func ReadKey(path string) (ed25519.PrivateKey, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode(); !mode.IsRegular() || mode.Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s: mode %v, expected a file of its owner alone (chmod 600)", path, mode)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != pemType {
		return nil, fmt.Errorf("%s: no private key in PEM", path)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s: a key of another kind, expected ed25519", path)
	}
	return key, nil
}
