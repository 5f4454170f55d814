package bag

import (
	"fmt"
	"maps"
)

// Recovery is the result of Recover.
type Recovery struct {
	From    Summary // of the damaged bag, with its loss
	Written uint64  // messages in the new bag
}

// Recover copies every readable message of a bag into a new, complete bag with
// indexes. On an error it removes the new bag. The new bag has the old one's
// storage where the options name none. The old bag is not changed.
func Recover(in, out string, o WriterOptions) (Recovery, error) {
	r, err := Open(in)
	if err != nil {
		return Recovery{}, err
	}
	defer r.Close()
	info := r.Info()
	if o.Storage == "" {
		o.Storage = info.Storage
	}
	if o.Distro == "" {
		o.Distro = info.Distro
	}
	w, err := Create(out, o)
	if err != nil {
		return Recovery{From: info}, err
	}
	maps.Copy(w.meta.Custom, info.Custom)
	err = copyMessages(w, r)
	lost := r.Lost()
	if lost.Any() {
		w.SetCustom("vnd.recovered", lost.String())
	}
	if err := w.Finish(err); err != nil {
		return Recovery{From: r.Info()}, err
	}
	return Recovery{From: r.Info(), Written: w.Stats().Written}, nil
}

func copyMessages(w *Writer, r *Reader) error {
	types := map[string]string{}
	for _, t := range r.Topics() {
		if known, ok := types[t.Name]; ok && known != t.Type {
			r.lost.Messages += t.Count
			r.lost.Note("%s: %d messages of type %s left out, as it is of type %s too", t.Name, t.Count, t.Type, known)
			continue
		}
		types[t.Name] = t.Type
		if err := w.AddTopic(t); err != nil {
			return err
		}
	}
	for m, err := range r.Messages() {
		if err != nil {
			return err
		}
		if m.Type != types[m.Topic] {
			continue
		}
		if m.LogTime < 0 || m.PublishTime < 0 {
			r.lost.Messages++
			r.lost.Note("%s: a message left out, recorded at %d ns: before 1970", m.Topic, m.LogTime)
			continue
		}
		if err := w.Write(m); err != nil {
			return fmt.Errorf("after %d messages: %w", w.Stats().Written, err)
		}
	}
	return nil
}
