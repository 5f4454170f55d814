package mcap

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// maxRatio is the highest compression ratio of each codec: 4 bytes of zstd can
// hold 128 KiB, one byte of LZ4 255. A chunk with a higher ratio is damaged, and
// nothing is allocated for it.
var maxRatio = map[string]uint64{None: 1, LZ4: 255, Zstd: 128 << 10 / 4}

// unpacker decompresses chunks and re-uses its decoders.
type unpacker struct {
	zstd *zstd.Decoder
	lz4  *lz4.Reader
}

// checkSizes compares a chunk's stated size with what its bytes can hold.
func checkSizes(h chunkHeader) error {
	ratio, ok := maxRatio[h.codec]
	switch {
	case !ok:
		return fmt.Errorf("unknown compression %q (known: zstd, lz4, none)", h.codec)
	case h.size > MaxChunk:
		return fmt.Errorf("%d bytes uncompressed, more than the %d that are read", h.size, MaxChunk)
	case h.packed > MaxChunk+MaxChunk/8:
		return fmt.Errorf("%d bytes compressed, more than the %d that are read", h.packed, MaxChunk+MaxChunk/8)
	case h.codec == None && h.packed != h.size:
		return fmt.Errorf("%d bytes for %d uncompressed ones", h.packed, h.size)
	case h.size > (h.packed+64)*ratio:
		return fmt.Errorf("%d bytes cannot hold %d with %s", h.packed, h.size, h.codec)
	}
	return nil
}

// unpack decompresses all of a chunk's records into buf, grown as needed.
// Uncompressed records are returned without a copy.
func (u *unpacker) unpack(h chunkHeader, packed, buf []byte) ([]byte, error) {
	switch h.codec {
	case Zstd:
		var zh zstd.Header
		if err := zh.Decode(packed); err != nil {
			return nil, err
		}
		if zh.HasFCS && zh.FrameContentSize > h.size {
			return nil, fmt.Errorf("a frame of %d bytes for %d", zh.FrameContentSize, h.size)
		}
		if err := u.openZstd(); err != nil {
			return nil, err
		}
		out, err := u.zstd.DecodeAll(packed, buf[:0])
		if err == nil && uint64(len(out)) != h.size {
			err = fmt.Errorf("%d bytes instead of %d", len(out), h.size)
		}
		return out, err
	case LZ4:
		if u.lz4 == nil {
			u.lz4 = lz4.NewReader(nil)
		}
		u.lz4.Reset(bytes.NewReader(packed))
		buf = grow(buf, int64(h.size))
		_, err := io.ReadFull(u.lz4, buf)
		return buf, err
	}
	return packed, nil
}

// unpackCut decompresses the beginning of a chunk that was cut off.
func unpackCut(h chunkHeader, packed []byte) []byte {
	var in io.Reader
	switch h.codec {
	case Zstd:
		z, err := zstd.NewReader(bytes.NewReader(packed), zstdOptions...)
		if err != nil {
			return nil
		}
		defer z.Close()
		in = z
	case LZ4:
		in = lz4.NewReader(bytes.NewReader(packed))
	default:
		return packed
	}
	// The error repeats that the rest is missing.
	out, _ := io.ReadAll(io.LimitReader(in, int64(h.size)))
	return out
}

// zstdOptions bound a decoder's memory and threads.
var zstdOptions = []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxChunk)}

func (u *unpacker) openZstd() (err error) {
	if u.zstd == nil {
		u.zstd, err = zstd.NewReader(nil, zstdOptions...)
	}
	return err
}

func (u *unpacker) close() {
	if u.zstd != nil {
		u.zstd.Close()
		u.zstd = nil
	}
}

// packer compresses the records of chunks.
type packer struct {
	codec string
	zstd  *zstd.Encoder
	lz4   *lz4.Writer
	out   []byte
	frame bytes.Buffer
}

func newPacker(codec string) (*packer, error) {
	p := &packer{codec: codec}
	var err error
	switch codec {
	case None:
	case Zstd:
		// On recorded flights the fastest level is up to 1.7 times as fast as the
		// default, and its output at most 3 % larger. The encoder's memory is twice
		// the window, which needs to be no larger than a chunk.
		p.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithWindowSize(DefaultChunkSize))
	case LZ4:
		p.lz4 = lz4.NewWriter(nil)
		err = p.lz4.Apply(lz4.BlockSizeOption(lz4.Block1Mb))
	default:
		err = fmt.Errorf("unknown compression %q (known: zstd, lz4, none)", codec)
	}
	return p, err
}

// pack returns the compressed records, valid until the next call.
func (p *packer) pack(records []byte) ([]byte, error) {
	switch p.codec {
	case Zstd:
		p.out = p.zstd.EncodeAll(records, p.out[:0])
		return p.out, nil
	case LZ4:
		p.frame.Reset()
		p.lz4.Reset(&p.frame)
		if _, err := p.lz4.Write(records); err != nil {
			return nil, err
		}
		if err := p.lz4.Close(); err != nil {
			return nil, err
		}
		return p.frame.Bytes(), nil
	}
	return records, nil
}
