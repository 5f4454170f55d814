package campaign

// Draw plans a run of a row for a flight that is not the campaign's, as of nodes over the wire: its Fault and Label
// count there.
func (p *Policies) Draw(row *Row, seed uint64) (*Run, error) { return newRun(p, row, 0, 0, seed) }
