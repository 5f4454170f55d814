package blackbox

// Encodings of fields, as the firmware numbers them.
const (
	signedVB        = 0
	unsignedVB      = 1
	negative14      = 3
	tag8of8         = 6
	tag2of3         = 7
	tag8of4         = 8
	none            = 9
	tag2of3Variable = 10
)

// Predictors that a field's number is added to.
const (
	zero            = 0
	previous        = 1
	straightLine    = 2
	average         = 3
	minThrottle     = 4
	motor0          = 5
	increment       = 6
	homeCoordinate  = 7
	fixed1500       = 8
	batteryRef      = 9
	lastMainTime    = 10
	minMotor        = 11
	homeCoordinate1 = 256 // the second of a pair
)

// cursor reads numbers out of a frame; short says that it ended before.
type cursor struct {
	b     []byte
	at    int
	short bool
}

func (c *cursor) byte() byte {
	if c.at >= len(c.b) {
		c.short = true
		return 0
	}
	c.at++
	return c.b[c.at-1]
}

func (c *cursor) skip(n int) {
	if c.at += n; c.at > len(c.b) {
		c.at, c.short = len(c.b), true
	}
}

func (c *cursor) rest() []byte { return c.b[c.at:] }

// unsigned reads seven bits a byte, the least first; five bytes at most.
func (c *cursor) unsigned() uint32 {
	var x uint64
	for shift := 0; shift < 35; shift += 7 {
		b := c.byte()
		x |= uint64(b&0x7F) << shift
		if b < 0x80 {
			return uint32(x)
		}
	}
	return 0
}

// signed reads a zigzag number.
func (c *cursor) signed() int64 {
	x := c.unsigned()
	return int64(int32(x>>1) ^ -int32(x&1))
}

// extend takes the lowest bits of x as a number with a sign.
func extend(x uint32, bits int) int64 { return int64(int32(x<<(32-bits)) >> (32 - bits)) }

// little reads n bytes, the least first, with a sign.
func (c *cursor) little(n int) int64 {
	var x uint32
	for i := range n {
		x |= uint32(c.byte()) << (8 * i)
	}
	return extend(x, 8*n)
}

// threes reads three numbers; the first two bits say how wide they are.
func (c *cursor) threes(variable bool) (v [3]int64) {
	lead := uint32(c.byte())
	width := lead >> 6
	if variable && (width == 1 || width == 2) {
		if width == 1 { // 5, 5 and 4 bits
			x := lead<<8 | uint32(c.byte())
			return [3]int64{extend(x>>9, 5), extend(x>>4, 5), extend(x, 4)}
		}
		x := lead<<16 | uint32(c.byte())<<8 // 8, 7 and 7 bits
		x |= uint32(c.byte())
		return [3]int64{extend(x>>14, 8), extend(x>>7, 7), extend(x, 7)}
	}
	switch width {
	case 0:
		return [3]int64{extend(lead>>4, 2), extend(lead>>2, 2), extend(lead, 2)}
	case 1:
		x := uint32(c.byte())
		return [3]int64{extend(lead, 4), extend(x>>4, 4), extend(x, 4)}
	case 2:
		return [3]int64{extend(lead, 6), extend(uint32(c.byte()), 6), extend(uint32(c.byte()), 6)}
	}
	for i := range v {
		v[i] = c.little(1 + int(lead>>(2*i))&3)
	}
	return v
}

// fours reads four numbers of no, 4, 8 or 16 bits that a first byte names.
func (c *cursor) fours(version int) (v [4]int64) {
	tags := c.byte()
	if version < 2 {
		return c.foursOfVersion1(tags)
	}
	var half uint32 // the byte whose low nibble is left
	odd := false
	for i := range v {
		bits := []int{0, 4, 8, 16}[tags>>(2*i)&3]
		var x uint32
		for need := bits; need > 0; need -= 4 {
			if !odd {
				half = uint32(c.byte())
				x = x<<4 | half>>4
			} else {
				x = x<<4 | half&0xF
			}
			odd = !odd
		}
		if bits > 0 {
			v[i] = extend(x, bits)
		}
	}
	return v
}

// foursOfVersion1 reads whole bytes: two nibbles in one for two numbers, the least first.
func (c *cursor) foursOfVersion1(tags byte) (v [4]int64) {
	for i := 0; i < len(v); i++ {
		switch tags >> (2 * i) & 3 {
		case 1:
			x := uint32(c.byte())
			v[i] = extend(x, 4)
			if i++; i < len(v) {
				v[i] = extend(x>>4, 4)
			}
		case 2:
			v[i] = c.little(1)
		case 3:
			v[i] = c.little(2)
		}
	}
	return v
}

// decode reads a frame into current, or for frames beside the main ones into slow; it returns its bytes.
func (b *Reader) decode(kind byte, d *definition, c *cursor) int {
	out := b.current
	if kind != 'I' && kind != 'P' {
		if len(b.slow) < len(d.names) {
			b.slow = make([]int64, len(d.names))
		}
		out = b.slow
	}
	var group [8]int64
	for i := 0; i < len(d.names); {
		if d.predictor[i] == increment {
			b.set(kind, d, out, i, 0)
			i++
			continue
		}
		n := 1
		switch d.encoding[i] {
		case signedVB:
			group[0] = c.signed()
		case unsignedVB:
			group[0] = int64(c.unsigned())
		case negative14:
			group[0] = -extend(c.unsigned(), 14)
		case tag8of8:
			n = c.eights(d.encoding[i:], &group)
		case tag2of3, tag2of3Variable:
			v := c.threes(d.encoding[i] == tag2of3Variable)
			n = copy(group[:], v[:])
		case tag8of4:
			v := c.fours(b.version)
			n = copy(group[:], v[:])
		default:
			group[0] = 0
		}
		for k := range n {
			b.set(kind, d, out, i+k, group[k])
		}
		i += n
	}
	return c.at
}

// eights reads up to eight numbers, of which a first byte says which are not 0. A single one has no such byte.
func (c *cursor) eights(encoding []int, out *[8]int64) int {
	n := 1
	for n < 8 && n < len(encoding) && encoding[n] == tag8of8 {
		n++
	}
	if n == 1 {
		out[0] = c.signed()
		return 1
	}
	tags := c.byte()
	for i := range n {
		out[i] = 0
		if tags>>i&1 != 0 {
			out[i] = c.signed()
		}
	}
	return n
}

// set adds what the predictor says; the result has 32 bits.
func (b *Reader) set(kind byte, d *definition, out []int64, i int, x int64) {
	past := kind == 'P'
	switch p := d.predictor[i]; {
	case p == previous && past:
		x += b.previous[i]
	case p == straightLine && past:
		x += 2*b.previous[i] - b.before[i]
	case p == average && past:
		x += (b.previous[i] + b.before[i]) / 2
	case p == increment && past:
		x = b.previous[i] + b.skipped() + 1
	case p == increment:
		x = 1
	case p == minThrottle:
		x += b.minThrottle
	case p == motor0:
		x += out[d.motor0]
	case p == homeCoordinate:
		x += b.home[0]
	case p == homeCoordinate1:
		x += b.home[1]
	case p == fixed1500:
		x += 1500
	case p == batteryRef:
		x += b.battery
	case p == lastMainTime:
		x += b.lastTime
	case p == minMotor:
		x += b.motorLow
	}
	if d.signed[i] != 0 {
		out[i] = int64(int32(x))
	} else {
		out[i] = int64(uint32(x))
	}
}
