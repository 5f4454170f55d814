package bag

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"vnd/pkg/ros2/bag/metadata"
)

const zstdEnd = ".zstd"

// isStorage reports whether a file name is a storage file's.
func isStorage(name string) bool {
	switch filepath.Ext(strings.TrimSuffix(name, zstdEnd)) {
	case ".mcap", ".db3":
		return true
	}
	return false
}

// storageFiles lists a folder's storage files in the order they were written: by
// the number at the end of the name. A recorder that is killed while it
// compresses a file leaves both versions: only the uncompressed one counts.
func storageFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for _, e := range entries {
		if !e.IsDir() && isStorage(e.Name()) {
			have[e.Name()] = true
		}
	}
	var out []string
	for name := range have {
		if plain, ok := strings.CutSuffix(name, zstdEnd); !ok || !have[plain] {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		pa, na := splitName(a)
		pb, nb := splitName(b)
		return cmp.Or(cmp.Compare(pa, pb), cmp.Compare(na, nb), cmp.Compare(a, b))
	})
	return out, nil
}

// splitName splits "flight_12.mcap.zstd" into "flight" and 12. Without a number
// it returns the name and -1.
func splitName(name string) (prefix string, number int) {
	stem := strings.TrimSuffix(name, zstdEnd)
	stem = strings.TrimSuffix(stem, filepath.Ext(stem))
	if i := strings.LastIndexByte(stem, '_'); i >= 0 {
		if n, err := strconv.Atoi(stem[i+1:]); err == nil && n >= 0 {
			return stem[:i], n
		}
	}
	return stem, -1
}

// readMetadata reads a folder's metadata.yaml; nil when there is none.
func readMetadata(dir string) (*metadata.Metadata, error) {
	f, err := os.Open(filepath.Join(dir, metadata.FileName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, metadata.MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > metadata.MaxSize {
		return nil, fmt.Errorf("more than %d bytes", metadata.MaxSize)
	}
	return metadata.Parse(text)
}

// listed returns the storage files of a folder: those that metadata.yaml lists,
// then those of the same recording that it does not list yet.
func (r *Reader) listed(dir string) (files []string, unlisted map[string]bool, err error) {
	found, err := storageFiles(dir)
	if err != nil {
		return nil, nil, err
	}
	if r.meta == nil {
		return found, nil, nil
	}
	unlisted = map[string]bool{}
	prefixes := map[string]bool{}
	for _, p := range r.meta.Paths {
		// Versions up to 3 put the folder's name in front.
		name := filepath.Base(filepath.FromSlash(p))
		i := slices.IndexFunc(found, func(f string) bool {
			return strings.TrimSuffix(f, zstdEnd) == strings.TrimSuffix(name, zstdEnd)
		})
		if i < 0 {
			r.summary.warn("metadata.yaml names %s, which does not exist", name)
			r.lost.Chunks++
			r.lost.Note("%s is missing", name)
			continue
		}
		files = append(files, found[i])
		prefix, _ := splitName(name)
		prefixes[prefix] = true
		found = slices.Delete(found, i, i+1)
	}
	for _, name := range found {
		if prefix, _ := splitName(name); len(prefixes) > 0 && !prefixes[prefix] {
			r.summary.warn("%s is left out: metadata.yaml does not list it, and it is of another recording", name)
			continue
		}
		r.summary.warn("%s is not in metadata.yaml: the recording was cut off, or continues", name)
		files = append(files, name)
		unlisted[name] = true
	}
	return files, unlisted, nil
}

// First bytes of files.
const (
	mcapMagic   = "\x89MCAP0\r\n"
	sqliteMagic = "SQLite format 3\x00"
	zstdMagic   = "\x28\xb5\x2f\xfd"
	ros1Magic   = "#ROSBAG V"
)

// readMagic reads the first bytes of a file, as many as there are.
func readMagic(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, len(sqliteMagic))
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return string(head[:n]), err
}

// storageOf detects a storage file's kind by its first bytes: MCAP, SQLite or
// "zstd". An empty file's kind is that of its name.
func storageOf(path string) (string, error) {
	head, err := readMagic(path)
	if err != nil {
		return "", err
	}
	begins := func(magic string) bool { // a file that was cut off has a part of it
		return head != "" && strings.HasPrefix(magic, head[:min(len(head), len(magic))])
	}
	switch {
	case begins(mcapMagic):
		return MCAP, nil
	case begins(sqliteMagic):
		return SQLite, nil
	case begins(zstdMagic):
		return "zstd", nil
	case strings.HasPrefix(head, ros1Magic):
		return "", errors.New("a bag of ROS 1: rosbags-convert, of PyPI's rosbags, converts it to ROS 2")
	case head != "":
		return "", fmt.Errorf("neither MCAP nor SQLite: begins with %q", head)
	case filepath.Ext(strings.TrimSuffix(path, zstdEnd)) == ".db3":
		return SQLite, nil
	}
	return MCAP, nil
}

// Root is the path of a bag: the folder when path is its metadata.yaml.
func Root(path string) string {
	if filepath.Base(path) == metadata.FileName {
		return filepath.Dir(path)
	}
	return path
}

// IsFile reports by its content whether a file is a storage file. It is true for
// a bag of ROS 1 too: Open's error says how to convert it.
func IsFile(path string) bool {
	head, _ := readMagic(path)
	return strings.HasPrefix(head, ros1Magic) || strings.HasPrefix(head, mcapMagic) || head == sqliteMagic
}

// maxMessage is the largest message that is decompressed, in bytes.
const maxMessage = 128 << 20

// zstdOptions bound a decoder's memory and threads.
var zstdOptions = []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxMessage)}

// inflate decompresses a storage file into a temporary folder. When the file is
// cut off, it returns the path of what can be decompressed and the error.
func inflate(path string) (plain, dir string, err error) {
	in, err := os.Open(path)
	if err != nil {
		return "", "", err
	}
	defer in.Close()
	z, err := zstd.NewReader(in, zstdOptions...)
	if err != nil {
		return "", "", err
	}
	defer z.Close()
	if dir, err = os.MkdirTemp("", "vnd-bag-*"); err != nil {
		return "", "", err
	}
	plain = filepath.Join(dir, strings.TrimSuffix(filepath.Base(path), zstdEnd))
	out, err := os.Create(plain)
	if err != nil {
		os.RemoveAll(dir)
		return "", "", err
	}
	_, err = io.Copy(out, z)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if _, ok := errors.AsType[*os.PathError](err); ok { // an error of the temporary disk, not of the bag
		os.RemoveAll(dir)
		return "", "", err
	}
	return plain, dir, err
}

// inflateMessage decompresses the data of one message in a bag that is compressed
// by message.
func inflateMessage(z *zstd.Decoder, data, buf []byte) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(data); err != nil {
		return nil, err
	}
	if h.HasFCS && h.FrameContentSize > maxMessage {
		return nil, fmt.Errorf("%d bytes uncompressed, more than the %d that are read", h.FrameContentSize, maxMessage)
	}
	return z.DecodeAll(data, buf[:0])
}

// isZstd reports whether a message is compressed: CDR begins with a zero byte.
func isZstd(data []byte) bool { return bytes.HasPrefix(data, []byte(zstdMagic)) }
