package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// parseHeader reads the JSON header, strictly: encoding/json alone would take the last of two equal
// names, ignore the case of keys and turn null into zero.
func parseHeader(head []byte) (*header, error) {
	h := &header{}
	err := eachMember("header", head, func(key string, value json.RawMessage) error {
		if key == metadataName {
			h.meta = map[string]string{}
			return eachMember(metadataName, value, func(key string, value json.RawMessage) error {
				s, err := stringValue(value)
				h.meta[key] = s
				if err != nil {
					return fmt.Errorf("metadata %q: %w", key, err)
				}
				return nil
			})
		}
		info, err := parseInfo(value)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", key, err)
		}
		h.tensors = append(h.tensors, namedInfo{key, info})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// parseInfo reads a tensor's entry, which has exactly its three keys.
func parseInfo(raw json.RawMessage) (tensorInfo, error) {
	var info tensorInfo
	var offsets []int
	members := 0
	err := eachMember("entry", raw, func(key string, value json.RawMessage) (err error) {
		members++
		switch key {
		case "dtype":
			info.DType, err = stringValue(value)
		case "shape":
			info.Shape, err = intsValue(value)
		case "data_offsets":
			offsets, err = intsValue(value)
		default:
			err = fmt.Errorf("key %q is not known to this program", key)
		}
		return err
	})
	if err != nil {
		return info, err
	}
	if members != 3 || len(offsets) != 2 {
		return info, fmt.Errorf("entry %.80s, want dtype, shape and two data_offsets", raw)
	}
	info.Offsets = [2]int(offsets)
	return info, nil
}

// eachMember visits the members of a JSON object and refuses a name that comes twice.
func eachMember(what string, raw []byte, visit func(key string, value json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("%s is not a JSON object", what)
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return fmt.Errorf("%s is not JSON at byte %d", what, dec.InputOffset())
		}
		if seen[key] {
			return fmt.Errorf("%s has two entries named %q", what, key)
		}
		seen[key] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return fmt.Errorf("%s is not JSON after %q", what, key)
		}
		if err := visit(key, value); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil || len(bytes.Trim(raw[dec.InputOffset():], " ")) != 0 {
		return fmt.Errorf("%s is not one JSON object", what)
	}
	return nil
}

func stringValue(raw json.RawMessage) (string, error) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", fmt.Errorf("%.40s is not a string", raw)
	}
	return s, nil
}

func intsValue(raw json.RawMessage) ([]int, error) {
	v := []int{}
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &v) != nil {
		return nil, fmt.Errorf("%.40s is not a list of whole numbers", raw)
	}
	return v, nil
}
