package sim

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// lineOf returns the first of the named parameters that a world's file sets, and its line; 0 if it sets none. Of
// several blocks the last counts, as it does for the value.
func lineOf(data []byte, names []string) (line int, name string) {
	var doc yaml.Node
	if yaml.Unmarshal(data, &doc) != nil || len(doc.Content) == 0 {
		return 0, ""
	}
	lines := map[string]int{}
	collectLines(lines, "", doc.Content[0])
	for _, n := range names {
		if line := lines[n]; line > 0 {
			return line, n
		}
	}
	return 0, ""
}

// collectLines notes where each dotted name below the world's ros__parameters stands.
func collectLines(lines map[string]int, prefix string, m *yaml.Node) {
	if m.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		if key.Value == "ros__parameters" {
			if node := strings.TrimSuffix(prefix, "."); strings.HasSuffix(node, Node) || strings.HasSuffix(node, "*") {
				collectLines(lines, "", value)
			}
			continue
		}
		lines[prefix+key.Value] = key.Line
		collectLines(lines, prefix+key.Value+".", value)
	}
}
