package fit

import (
	"cmp"
	"sync"
	"sync/atomic"

	"vnd/pkg/core/dist"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/vnd"
)

// workerPool is the workers of this process, the shards of batches that are theirs, and the way to the other ranks with
// theirs.
type workerPool struct {
	group   dist.Group
	workers []*worker[float32]
	shards  []*shard[float32] // of this rank: first … first+len−1 of n
	first   int
	n, each int                      // shards of a batch, and on a rank at most
	sum     *dist.Reduction[float32] // of the gradients of all ranks' shards
	latents []float32                // [Size·each][rows][Z] on the way between ranks
	rows    int                      // of a shard, at most
	Z       int
}

func newWorkerPool(cfg *Config, m, rolled *vnd.Model[float32], data *trainingSet,
	scale scales[float32], g dist.Group) workerPool {
	B, params := cfg.Train.Batch, len(m.Net.Params)
	c := workerPool{group: g, n: shardCount(B), Z: m.Net.Latent}
	lo, hi, each := dist.Share(g, c.n)
	c.first, c.each, c.rows = lo, each, (B+c.n-1)/c.n
	c.latents = make([]float32, g.Size()*each*c.rows*c.Z)
	c.sum = dist.NewReduction(g, c.n, params, func(x, y []float32) { kernel.Axpy(1, x, y) })
	for k := lo; k < hi; k++ {
		c.shards = append(c.shards, newShard(m, k*B/c.n, (k+1)*B/c.n, c.sum.Part(k)))
	}
	for range threads(cfg, hi-lo) {
		c.workers = append(c.workers, newWorker(cfg, m, rolled, data, scale, c.rows, B, cfg.Loss.Steps))
	}
	return c
}

// threads is how many work at the shards of a rank.
func threads(cfg *Config, shards int) int {
	return max(1, min(cmp.Or(cfg.Train.Workers, kernel.Workers()), shards))
}

// eachOf runs f for 0 … n−1, every worker taking the next that is left.
func (c *workerPool) eachOf(n int, f func(w *worker[float32], k int)) {
	var wg sync.WaitGroup
	var next atomic.Int64
	for _, w := range c.workers[:min(n, len(c.workers))] {
		wg.Go(func() {
			for k := int(next.Add(1)) - 1; k < n; k = int(next.Add(1)) - 1 {
				f(w, k)
			}
		})
	}
	wg.Wait()
}

// gradients writes the gradient of a batch to grad and returns the losses of its shards, of all ranks.
func (c *workerPool) gradients(b *batch[float32], grad []float32) ([]Losses, error) {
	c.eachOf(len(c.shards), func(w *worker[float32], k int) { w.encode(b, c.shards[k]) })
	if err := c.gatherLatents(b); err != nil {
		return nil, err
	}
	mine := make([]Losses, len(c.shards))
	c.eachOf(len(mine), func(w *worker[float32], k int) { mine[k] = w.gradient(b, c.shards[k]) })
	sum, err := c.sum.Reduce(c.ranges)
	if err != nil {
		return nil, err
	}
	copy(grad, sum)
	all, err := dist.Gather(c.group, mine)
	var losses []Losses
	for _, l := range all {
		losses = append(losses, l...)
	}
	return losses, err
}

// gatherLatents gives every rank the latents of all.
func (c *workerPool) gatherLatents(b *batch[float32]) error {
	if c.group.Size() == 1 || c.Z == 0 {
		return nil
	}
	B, space := len(b.starts), c.rows*c.Z
	of := func(k int) []float32 { return b.z[k*B/c.n*c.Z : (k+1)*B/c.n*c.Z] }
	for k := range c.shards {
		copy(c.latents[(c.first+k)*space:], of(c.first+k))
	}
	if err := dist.Floats(c.group, c.latents); err != nil {
		return err
	}
	for k := range c.n {
		copy(of(k), c.latents[k*space:])
	}
	return nil
}

// ranges has a function done for ranges of a vector, by all workers. Those of all shards stay in the caches together.
func (c *workerPool) ranges(length int, do func(lo, hi int)) {
	const size = 4096
	c.eachOf((length+size-1)/size, func(_ *worker[float32], k int) { do(k*size, min((k+1)*size, length)) })
}

// loss is the mean normalised loss over contexts, worked through in as many parts as a batch has shards.
func (c *workerPool) loss(starts []start, H int, corrected bool) (float64, error) {
	sums := make([]float64, c.group.Size()*c.each)
	c.eachOf(len(c.shards), func(w *worker[float32], k int) {
		k += c.first
		sums[k] = w.loss(starts[k*len(starts)/c.n:(k+1)*len(starts)/c.n], H, corrected)
	})
	if err := dist.Floats(c.group, sums); err != nil {
		return 0, err
	}
	total := 0.
	for _, x := range sums[:c.n] {
		total += x
	}
	return total / float64(len(starts)), nil
}
