package link

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"vnd/pkg/bridge/betaflight"
	"vnd/pkg/bridge/betaflight/msp"
	"vnd/pkg/bridge/betaflight/rates"
	"vnd/pkg/bridge/betaflight/receiver"
)

// Switch is an auxiliary channel that puts a mode into force.
type Switch struct {
	Channel int     // of Channels; 0: there is none
	On, Off float64 // µs
}

// set puts the switch into a frame.
func (s *Switch) set(c *Channels, on bool) {
	switch {
	case s.Channel == 0:
	case on:
		c[s.Channel] = s.On
	default:
		c[s.Channel] = s.Off
	}
}

// Settings are what a board told of itself.
type Settings struct {
	Version  msp.Version
	Rates    rates.Profile
	MinCheck float64 // µs
	Arm      Switch
	Prearm   Switch
	MSP      bool // sticks are taken over MSP
	Override int  // place of the mode in which MSP overrides the operator's sticks; 0: there is none
	Failsafe int  // place of the mode in which the board flies by itself; 0: there is none
}

// oldest is the API that tells the type of the rates profile.
var oldest = msp.Version{Major: 1, Minor: 43}

const patience = 2 * time.Second

// Configure asks a board for what the sticks have to know, and refuses one that they do not fit. Rates up to a limit,
// rad/s, must be in reach.
func (b *Board) Configure(limit float64) (s Settings, err error) {
	if s.Version, err = b.identify(); err != nil {
		return s, err
	}
	tuning, err := ask(b, msp.RCTuning, msp.ParseTuning)
	if err != nil {
		return s, err
	}
	s.Rates = tuning.Profile
	if err := s.Rates.Check(); err != nil {
		return s, err
	}
	if tuning.ThrottleExpo != 0 || tuning.ThrottleLimit {
		return s, errors.New("the board bends or limits throttle: set thr_expo to 0 and throttle_limit_type to OFF")
	}
	for i, axis := range []string{"roll", "pitch", "yaw"} {
		if most := s.Rates.Max(i); most < limit {
			return s, fmt.Errorf("the rates profile %s reaches %.3g rad/s of %s, expected %.3g: set %s_srate and "+
				"%[5]s_rc_rate higher, or the airframe's max_tilt_rate and max_yaw_rate lower", s.Rates.Type, most,
				axis, limit, axis)
		}
	}
	rx, err := ask(b, msp.RXConfig, msp.ParseReceiver)
	if err != nil {
		return s, err
	}
	if s.MinCheck = float64(rx.MinCheck); rx.Middle != betaflight.Middle {
		return s, fmt.Errorf("mid_rc is %d, expected %g", rx.Middle, betaflight.Middle)
	}
	if err := s.receivers(b); err != nil {
		return s, err
	}
	ranges, err := b.Ask(msp.ModeRanges, patience)
	if err != nil {
		return s, err
	}
	return s, s.switches(msp.ParseModeRanges(ranges))
}

// identify tells the version of a board with Betaflight.
func (b *Board) identify() (v msp.Version, err error) {
	variant, err := b.Ask(msp.FCVariant, patience)
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return v, errors.New("the line is closed at once: is another program connected to it?")
	}
	if err != nil {
		return v, err
	}
	if string(variant) != "BTFL" {
		return v, fmt.Errorf("the board's firmware is %q, expected BTFL, Betaflight", variant)
	}
	if v, err = ask(b, msp.APIVersion, msp.ParseVersion); err == nil && !v.Since(oldest) {
		err = fmt.Errorf("the board has MSP API %s, expected at least %s, of Betaflight 4.2", v, oldest)
	}
	return v, err
}

func ask[T any](b *Board, command uint16, parse func([]byte) (T, error)) (x T, err error) {
	p, err := b.Ask(command, patience)
	if err != nil {
		return x, err
	}
	return parse(p)
}

// receivers finds where the board takes its sticks from.
func (s *Settings) receivers(b *Board) (err error) {
	if s.MSP, err = ask(b, msp.Features, msp.ParseFeatures); err != nil {
		return err
	}
	modes, err := b.Ask(msp.ModeIDs, patience)
	if err == nil {
		s.Override = max(0, bytes.IndexByte(modes, msp.ModeOverride))
		s.Failsafe = max(0, bytes.IndexByte(modes, msp.ModeFailsafe))
	}
	return err
}

// Listens refuses a board that takes no sticks over a protocol.
func (s *Settings) Listens(protocol string) error {
	switch {
	case protocol != MSP && s.MSP:
		return fmt.Errorf("the board takes its sticks over MSP, not %s: set feature -RX_MSP and feature RX_SERIAL",
			protocol)
	case protocol == MSP && !s.MSP && s.Override == 0:
		return errors.New("the board has a receiver and takes no sticks over MSP: set feature RX_MSP, or " +
			"msp_override_channels_mask to 15 and a switch of the mode MSP OVERRIDE")
	}
	return nil
}

// switches finds those for arming and prearming.
func (s *Settings) switches(ranges []msp.ModeRange) error {
	for _, r := range ranges {
		x := Switch{Channel: betaflight.Aux1 + int(r.Channel), On: float64(r.From+r.To) / 2, Off: betaflight.Low}
		if r.From <= betaflight.Low {
			x.Off = betaflight.High
		}
		if x.Channel >= receiver.Channels {
			continue
		}
		switch r.Mode {
		case msp.ModeArm:
			s.Arm = x
		case msp.ModePrearm:
			s.Prearm = x
		}
	}
	if s.Arm.Channel == 0 {
		return errors.New("no switch arms the board: set a range of the mode ARM, as aux 0 0 0 1700 2100 0 0")
	}
	return nil
}
