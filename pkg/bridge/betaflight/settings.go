package betaflight

import (
	"fmt"
	"strings"

	"vnd/pkg/bridge/betaflight/rates"
)

// Setting is one that a board under rate commands is to have.
type Setting struct {
	Name, Value string
	Why         string // what goes wrong otherwise
}

// ParseSetting reads one that is written NAME=VALUE.
func ParseSetting(text string) (Setting, error) {
	name, value, ok := strings.Cut(text, "=")
	s := Setting{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value), Why: "as asked for"}
	if !ok || s.Name == "" || s.Value == "" || strings.ContainsAny(text, "\r\n#") {
		return s, fmt.Errorf("setting %q: expected NAME=VALUE, as i_roll=30", text)
	}
	return s, nil
}

// Change is a setting that a board has otherwise.
type Change struct {
	Setting
	Now string
}

// String is a line of the diff.
func (c Change) String() string {
	return fmt.Sprintf("%s: %s → %s (%s)", c.Name, c.Now, c.Value, c.Why)
}

// Recommended are the settings of a board that follows rates up to a limit, rad/s, and thrust, exactly: sticks without
// curves, and nothing that moves the motors by itself. Filters and gains stay as they were tuned.
func Recommended(limit float64) []Setting {
	p := rates.Linear(limit)
	full := fmt.Sprint(p.Axes[rates.Roll].SRate)
	list := []Setting{
		{"map", "AETR1234", "the order of the channels"},
		{"rates_type", p.Type.String(), "the curve that is inverted"},
	}
	for _, axis := range []string{"roll", "pitch", "yaw"} {
		list = append(list,
			Setting{axis + "_rc_rate", full, "a full stick is the greatest rate, half a stick half of it"},
			Setting{axis + "_srate", full, "as the rate of the centre"},
			Setting{axis + "_expo", "0", "small rates would be coarse no less, large ones more"},
			Setting{axis + "_rate_limit", "1998", "rates are limited by the guard"},
			Setting{"f_" + axis, "0", "feed-forward follows differences of the stick, which steps"})
	}
	return append(list,
		Setting{"serial_update_rate_hz", "1000", "of frames over MSP as many are read a second"},
		Setting{"failsafe_delay", "2", "the last rates are flown on for so many tenths of a second"},
		Setting{"deadband", "0", "small rates would be none"},
		Setting{"yaw_deadband", "0", "small rates would be none"},
		Setting{"rc_smoothing", "OFF", "it delays what is commanded"},
		Setting{"anti_gravity_gain", "0", "it raises the gains where the throttle moves"},
		Setting{"throttle_boost", "0", "it adds thrust where the throttle moves"},
		Setting{"tpa_rate", "0", "it lowers the gains at high throttle"},
		Setting{"tpa_low_rate", "0", "it changes the gains at low throttle"},
		Setting{"thr_expo", "0", "a curve before the thrust curve"},
		Setting{"throttle_limit_type", "OFF", "it scales thrust"},
		Setting{"thrust_linear", "0", "a second thrust curve"},
		Setting{"vbat_sag_compensation", "0", "thrust is made up for a battery once, by the bridge"},
		Setting{"motor_output_limit", "100", "it scales thrust"},
	)
}

// Compare reads settings and returns those that the board has otherwise.
func (c *Console) Compare(want []Setting) ([]Change, error) {
	var found []Change
	for _, s := range want {
		now, err := c.Get(s.Name)
		if err != nil {
			return nil, err
		}
		if now != s.Value {
			found = append(found, Change{s, now})
		}
	}
	return found, nil
}

// Apply writes changes and reads each of them back. Save keeps them.
func (c *Console) Apply(changes []Change) error {
	for _, s := range changes {
		if err := c.Set(s.Name, s.Value); err != nil {
			return err
		}
	}
	return nil
}
