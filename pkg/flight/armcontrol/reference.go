package armcontrol

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"vnd/pkg/robot/arm"
)

// longest is the length of a reference's JSON.
const longest = 1000

// ParseReference makes a reference of one JSON object, as {"kind": "circle", "speed": 0.25}, in rows of dt seconds.
// kind is one of arm.Shapes, and speed the mean of the tool's, m/s.
func ParseReference(data []byte, dt float64) (*arm.Reference, error) {
	x := struct {
		Kind  string  `json:"kind"`
		Speed float64 `json:"speed"`
	}{Speed: 0.25}
	if len(data) > longest {
		return nil, fmt.Errorf("%d bytes, expected one JSON object of at most %d", len(data), longest)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&x); err != nil {
		if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
			err = fmt.Errorf("%s is of type %s", cmp.Or(wrong.Field, "it"), wrong.Value)
		}
		return nil, fmt.Errorf(`%w; expected as {"kind": "circle", "speed": 0.25}`, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("something follows the JSON object, expected nothing")
	}
	return arm.NewReference(x.Kind, x.Speed, dt)
}
