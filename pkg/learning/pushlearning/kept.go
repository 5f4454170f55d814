package pushlearning

import (
	"bytes"
	"encoding/gob"
	"math/rand/v2"
)

// kept are episodes in a model whose state can be kept: it implements ppo.Kept.
type kept struct {
	*Episodes
	model  *Imagined
	source *rand.PCG // of all that is drawn
}

// state is that of episodes in a model: boxes and their latents.
type state struct {
	Episodes      []episode
	Boxes, Latent []float32
	Source        []byte
}

// MarshalBinary implements ppo.Kept.
func (k *kept) MarshalBinary() ([]byte, error) {
	source, err := k.source.MarshalBinary()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = gob.NewEncoder(&b).Encode(&state{k.all, k.model.s, k.model.z, source})
	return b.Bytes(), err
}

// UnmarshalBinary implements ppo.Kept, of episodes that have just begun: their model takes latents up with its next
// step.
func (k *kept) UnmarshalBinary(data []byte) error {
	var s state
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&s); err != nil {
		return err
	}
	for i := range s.Episodes {
		s.Episodes[i].rng = k.all[i].rng
	}
	copy(k.all, s.Episodes)
	copy(k.model.s, s.Boxes)
	copy(k.model.z, s.Latent)
	return k.source.UnmarshalBinary(s.Source)
}
