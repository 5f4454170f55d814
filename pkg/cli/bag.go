package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/core/quad"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/bag/loss"
)

type bagCommand struct {
	Info    bagInfoCommand    `cmd:"" help:"Say what is in a bag, what was lost of it, and which topics a fit would use."`
	Recover bagRecoverCommand `cmd:"" help:"Copy what can be read of a damaged bag into a whole one."`
	Export  bagExportCommand  `cmd:"" help:"Write the steps of a bag as a flight CSV, or for Rerun."`
}

type bagInfoCommand struct {
	Config string   `placeholder:"F.yaml" help:"Parameter file, node name \"assemble\": how bags become flights."`
	Bags   []string `arg:"" name:"bag" help:"Folders of bags, or storage files of them."`
}

// bagTopic is a topic as `vnd bag info` shows it.
type bagTopic struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Count uint64 `json:"count"`
}

// bagSummary is what `vnd bag info` found.
type bagSummary struct {
	Path        string            `json:"path"`
	Storage     string            `json:"storage"`
	Compression string            `json:"compression,omitempty"`
	Distro      string            `json:"ros_distro,omitempty"`
	Files       []string          `json:"files"`
	Bytes       int64             `json:"bytes"`
	Start       int64             `json:"start_ns"`
	End         int64             `json:"end_ns"`
	Messages    uint64            `json:"messages"`
	Topics      []bagTopic        `json:"topics"`
	Live        bool              `json:"live"`              // seems to be written right now
	Lost        loss.Loss         `json:"lost"`              // that could not be read
	Dropped     map[string]uint64 `json:"dropped,omitempty"` // messages the recorder could not take, by topic
	PoseTopic   string            `json:"pose_topic,omitempty"`
	Command     string            `json:"command_topic,omitempty"`
	NoSteps     string            `json:"no_steps,omitempty"` // why no topics would be used
	Warnings    []string          `json:"warnings"`
}

// bagSummaries is of several bags.
type bagSummaries struct {
	Bags []*bagSummary `json:"bags"`
}

// WriteText implements result.
func (s *bagSummaries) WriteText(w io.Writer) error {
	for i, b := range s.Bags {
		space := "\n"
		if i == 0 {
			space = ""
		}
		if _, err := fmt.Fprintf(w, "%s%-13s%s\n", space, "Bag:", b.Path); err != nil {
			return err
		}
		if err := b.WriteText(w); err != nil {
			return err
		}
	}
	return nil
}

// Run implements `vnd bag info`. A bag that cannot be read is named after those that can.
func (b *bagInfoCommand) Run(c *console) error {
	o, err := recordings{window: 1, config: b.Config}.options()
	if err != nil {
		return err
	}
	all := &bagSummaries{Bags: []*bagSummary{}}
	var failed []error
	for _, path := range b.Bags {
		s, err := summarize(path, &o)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		all.Bags = append(all.Bags, s)
	}
	switch {
	case len(all.Bags) == 0:
		return errors.Join(failed...)
	case len(b.Bags) == 1:
		return c.show(all.Bags[0])
	}
	return errors.Join(append([]error{c.show(all)}, failed...)...)
}

// summarize says what is in one bag.
func summarize(path string, o *flightlog.Options) (*bagSummary, error) {
	s, err := bag.Info(path)
	if err != nil {
		return nil, err
	}
	r := &bagSummary{Path: s.Path, Storage: s.Storage, Compression: s.Compression, Distro: s.Distro, Bytes: s.Size,
		Start: s.Start,
		End:   s.End, Messages: s.Messages, Live: s.Live, Lost: s.Lost, Dropped: s.Dropped,
		Warnings: append([]string{}, s.Warnings...)}
	for _, f := range s.Files {
		r.Files = append(r.Files, f.Name)
	}
	for _, t := range s.Topics {
		r.Topics = append(r.Topics, bagTopic{t.Name, t.Type, t.Count})
	}
	if pose, command, err := o.Topics(s.Topics); err != nil {
		r.NoSteps = err.Error()
	} else {
		r.PoseTopic, r.Command = pose.Name, command.Name
	}
	return r, nil
}

// WriteText implements result.
func (s *bagSummary) WriteText(w io.Writer) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		if name != "" {
			name += ":"
		}
		fmt.Fprintf(&b, "%-13s%s\n", name, fmt.Sprintf(format, args...))
	}
	line("Files", "%s", strings.Join(s.Files, ", "))
	line("Size", "%.1f MiB", float64(s.Bytes)/(1<<20))
	kind := s.Storage
	if s.Compression != "" {
		kind += ", " + s.Compression
	}
	line("Storage", "%s", kind)
	if s.Distro != "" {
		line("ROS distro", "%s", s.Distro)
	}
	line("Duration", "%.9f s", time.Duration(s.End-s.Start).Seconds())
	if s.Messages > 0 {
		line("Start", "%s (%d.%09d)", time.Unix(0, s.Start).UTC().Format(time.RFC3339Nano), s.Start/1e9, s.Start%1e9)
		line("End", "%s (%d.%09d)", time.Unix(0, s.End).UTC().Format(time.RFC3339Nano), s.End/1e9, s.End%1e9)
	}
	line("Messages", "%d", s.Messages)
	for i, t := range s.Topics {
		name := "Topics"
		if i > 0 {
			name = ""
		}
		line(name, "%s  %s  %d", t.Name, t.Type, t.Count)
	}
	if s.Lost.Any() {
		line("Lost", "%s", s.Lost.String())
		for _, note := range s.Lost.Notes {
			line("", "%s", note)
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(s.Dropped)) {
		line("Dropped", "%d of %s while recording", s.Dropped[topic], topic)
	}
	if s.NoSteps != "" {
		line("Steps", "%s", s.NoSteps)
	} else {
		line("Steps", "of poses on %s and commands on %s", s.PoseTopic, s.Command)
	}
	for _, text := range s.Warnings {
		line("Warning", "%s", text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

type bagRecoverCommand struct {
	Storage  string `enum:",mcap,sqlite3" default:"" help:"Storage of the new bag, mcap or sqlite3; that of the old one without it."`
	Metadata int    `enum:"8,5" default:"8" help:"Version of metadata.yaml, and of what goes with it: 8, or 5 for ROS 2 Humble."`
	Bag      string `arg:"" help:"Folder of the damaged bag, or one of its storage files. It is not changed."`
	Out      string `arg:"" help:"Folder of the new bag; it must not exist, or be empty."`
}

// recoverResult is what `vnd bag recover` did.
type recoverResult struct {
	Out      string    `json:"out"`
	Written  uint64    `json:"messages"`
	Lost     loss.Loss `json:"lost"`
	Warnings []string  `json:"warnings"`
}

// Run implements `vnd bag recover`.
func (b *bagRecoverCommand) Run(c *console) error {
	r, err := bag.Recover(b.Bag, b.Out, bag.WriterOptions{Storage: b.Storage, MetadataVersion: b.Metadata})
	if err != nil {
		return err
	}
	if r.Written == 0 {
		err := fmt.Errorf("bag %s: no message can be read, nothing to recover", b.Bag)
		return errors.Join(err, os.RemoveAll(b.Out))
	}
	return c.show(&recoverResult{Out: b.Out, Written: r.Written, Lost: r.From.Lost,
		Warnings: append([]string{}, r.From.Warnings...)})
}

// WriteText implements result.
func (r *recoverResult) WriteText(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "wrote %s: %d messages; %s\n", r.Out, r.Written, r.Lost.String()); err != nil {
		return err
	}
	for _, note := range r.Lost.Notes {
		if _, err := fmt.Fprintln(w, note); err != nil {
			return err
		}
	}
	return nil
}

type bagExportCommand struct {
	Out    string `required:"" placeholder:"F.csv" help:"Flight CSV to write; with --rerun a bag's new folder."`
	Rerun  bool   `help:"Write what Rerun and Foxglove show by themselves, as a bag in MCAP."`
	Config string `placeholder:"F.yaml" help:"Parameter file, node name \"assemble\": how bags become flights."`
	Bag    string `arg:"" help:"Folder of a bag, or one of its storage files."`
}

// exportResult is what `vnd bag export` did.
type exportResult struct {
	Out      string   `json:"out"`
	Segments int      `json:"segments"`
	Rows     int      `json:"rows"`
	Warnings []string `json:"warnings"`
}

// Run implements `vnd bag export`.
func (b *bagExportCommand) Run(c *console) error {
	o, err := recordings{window: 1, config: b.Config}.options()
	if err != nil {
		return err
	}
	if b.Rerun {
		return b.forRerun(c, o)
	}
	f, warnings, err := flightlog.ReadBag(b.Bag, o)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		c.warn(w.String())
	}
	if err := flightlog.WriteCSV(b.Out, f, o.Delta); err != nil {
		return err
	}
	return c.show(&exportResult{Out: b.Out, Segments: len(f.Segments), Rows: rows([]quad.Flight{f}),
		Warnings: c.warnings})
}

// WriteText implements result.
func (e *exportResult) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "wrote %s: %d rows in %d segments\n", e.Out, e.Rows, e.Segments)
	return err
}
