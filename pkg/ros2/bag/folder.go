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

// isStorage tells storage files by their names.
func isStorage(name string) bool {
	switch filepath.Ext(strings.TrimSuffix(name, zstdEnd)) {
	case ".mcap", ".db3":
		return true
	}
	return false
}

// storageFiles lists a folder's storage files in the order they were written:
// by the number at the end of the name. Of a file and its compressed twin,
// which a recorder leaves when it is killed while compressing, only the plain
// one counts.
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

// splitName cuts "flight_12.mcap.zstd" into "flight" and 12; without a number,
// into the whole name and -1.
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

// listed gives the storage files of a folder: those that metadata.yaml names,
// then those of the same recording that it does not name yet.
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
		// Versions up to 3 have the folder's name in front.
		name := filepath.Base(filepath.FromSlash(p))
		i := slices.IndexFunc(found, func(f string) bool {
			return strings.TrimSuffix(f, zstdEnd) == strings.TrimSuffix(name, zstdEnd)
		})
		if i < 0 {
			r.summary.warn("metadata.yaml names %s, which is not there", name)
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
			r.summary.warn("%s is left out: metadata.yaml does not name it, and it is of another recording", name)
			continue
		}
		r.summary.warn("%s is not in metadata.yaml: the recording was cut off, or is going on", name)
		files = append(files, name)
		unlisted[name] = true
	}
	return files, unlisted, nil
}

// sniff tells a storage file's kind by its first bytes: MCAP, SQLite, "zstd",
// or, for an empty file, by its name.
func sniff(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	head = head[:n]
	begins := func(magic string) bool { return n > 0 && strings.HasPrefix(magic, string(head[:min(n, len(magic))])) }
	switch {
	case begins(mcapMagic):
		return MCAP, nil
	case begins(sqliteMagic):
		return SQLite, nil
	case begins(zstdMagic):
		return "zstd", nil
	case isROS1(head):
		return "", errors.New("a bag of ROS 1: rosbags-convert, of PyPI's rosbags, makes one of ROS 2 of it")
	case n == 0 && filepath.Ext(strings.TrimSuffix(path, zstdEnd)) == ".db3":
		return SQLite, nil
	case n == 0:
		return MCAP, nil
	}
	return "", fmt.Errorf("neither MCAP nor SQLite: begins with %q", head)
}

func isROS1(head []byte) bool { return bytes.HasPrefix(head, []byte("#ROSBAG V")) }

// Root is the bag that a path means: of a metadata.yaml, its folder.
func Root(path string) string {
	if filepath.Base(path) == metadata.FileName {
		return filepath.Dir(path)
	}
	return path
}

// IsFile tells by its content whether a file is a storage file, whatever its
// name. One of ROS 1 is meant as one too: Open refuses it in words.
func IsFile(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(sqliteMagic))
	n, _ := io.ReadFull(f, head)
	head = head[:n]
	return isROS1(head) || bytes.HasPrefix(head, []byte(mcapMagic)) || bytes.HasPrefix(head, []byte(sqliteMagic))
}

const (
	mcapMagic   = "\x89MCAP0\r\n"
	sqliteMagic = "SQLite format 3\x00"
)

const zstdMagic = "\x28\xb5\x2f\xfd"

// inflate decompresses a whole storage file into a temporary folder. Of a file
// that was cut off, it keeps what can be decompressed and returns the error
// besides.
func inflate(path string) (plain, dir string, err error) {
	in, err := os.Open(path)
	if err != nil {
		return "", "", err
	}
	defer in.Close()
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(128<<20))
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
	var perr *os.PathError
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if errors.As(err, &perr) { // the temporary disk, not the bag, is at fault
		os.RemoveAll(dir)
		return "", "", err
	}
	return plain, dir, err
}

// inflateMessage decompresses the data of a single message of a bag that is
// compressed message by message. CDR data never begin with zstd's magic.
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

// maxMessage is the largest message that is decompressed.
const maxMessage = 128 << 20

func isZstd(data []byte) bool { return bytes.HasPrefix(data, []byte(zstdMagic)) }
