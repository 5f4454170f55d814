package latent

// SetMaxAge sets the age (s) from which a latent is not used.
func (e *Encoder) SetMaxAge(s float64) { e.maxAge = s }
