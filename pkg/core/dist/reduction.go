package dist

// Reduction adds vectors of all ranks, part by part, in an order that follows from the number of parts alone: two
// neighbours, then their sums, and so on. So a rank whose parts make up a whole branch of that tree sends its sum, and
// all come to the same bits, whatever the number of ranks.
type Reduction[F float32 | float64] struct {
	group  Group
	root   branch
	length int            // of a vector
	mine   []branch       // of this rank, in their order
	space  map[branch][]F // where their sums go, and those of all ranks come
	all    []F            // [Size·most][length]
	parts  map[branch][]F // of this rank, which are no sums
	add    func(x, y []F) // y += x
}

// branch is parts lo … hi−1.
type branch struct{ lo, hi int }

// halves are the branches of a branch. The first has a power of two of parts, and at least as many as the second.
func (b branch) halves() (left, right branch) {
	half := 1
	for 2*half < b.hi-b.lo {
		half *= 2
	}
	return branch{b.lo, b.lo + half}, branch{b.lo + half, b.hi}
}

// cover appends the fewest branches below b that are parts lo … hi−1 together.
func (b branch) cover(lo, hi int, out []branch) []branch {
	if b.hi <= lo || hi <= b.lo {
		return out
	}
	if lo <= b.lo && b.hi <= hi {
		return append(out, b)
	}
	left, right := b.halves()
	return right.cover(lo, hi, left.cover(lo, hi, out))
}

// NewReduction is for n parts, which ranks have as Share cuts them. add adds its first vector to its second.
func NewReduction[F float32 | float64](g Group, n, length int, add func(x, y []F)) *Reduction[F] {
	s := &Reduction[F]{group: g, root: branch{0, n}, length: length, space: map[branch][]F{}, parts: map[branch][]F{},
		add: add}
	branches, most := make([][]branch, g.Size()), 0
	_, _, each := Share(g, n)
	for rank := range branches {
		branches[rank] = s.root.cover(min(rank*each, n), min((rank+1)*each, n), nil)
		most = max(most, len(branches[rank]))
	}
	s.mine, s.all = branches[g.Rank()], make([]F, g.Size()*most*length)
	for rank := range branches {
		for k, b := range branches[rank] {
			s.space[b] = s.all[(rank*most+k)*length:][:length]
		}
	}
	for _, b := range s.mine {
		s.parts[branch{b.lo, b.lo + 1}] = s.space[b]
		for k := b.lo + 1; k < b.hi; k++ {
			s.parts[branch{k, k + 1}] = make([]F, length)
		}
	}
	return s
}

// Part is where part k, of this rank, goes. It is overwritten by sums.
func (s *Reduction[F]) Part(k int) []F { return s.parts[branch{k, k + 1}] }

// Reduce returns the sum of the parts of all ranks, which stays until the next parts come. each has a function done for
// ranges of the vectors, which together are all of them, in any order and at once.
func (s *Reduction[F]) Reduce(each func(length int, do func(lo, hi int))) ([]F, error) {
	each(s.length, func(lo, hi int) {
		for _, b := range s.mine {
			s.fold(s.parts, b, lo, hi)
		}
	})
	if err := Floats(s.group, s.all); err != nil {
		return nil, err
	}
	each(s.length, func(lo, hi int) { s.fold(s.space, s.root, lo, hi) })
	return s.first(s.space, s.root), nil
}

// fold adds the vectors of a branch to the first of them, in a range.
func (s *Reduction[F]) fold(vectors map[branch][]F, b branch, lo, hi int) {
	if vectors[b] != nil {
		return
	}
	left, right := b.halves()
	s.fold(vectors, left, lo, hi)
	s.fold(vectors, right, lo, hi)
	s.add(s.first(vectors, right)[lo:hi], s.first(vectors, left)[lo:hi])
}

// first is the vector that a branch begins with.
func (s *Reduction[F]) first(vectors map[branch][]F, b branch) []F {
	for vectors[b] == nil {
		b, _ = b.halves()
	}
	return vectors[b]
}
