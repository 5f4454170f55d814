package node_test

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestLaunchFiles: a launch file of Python and its twin in XML have the same arguments, with the same words, and start
// the same nodes, all of which are there.
func TestLaunchFiles(t *testing.T) {
	argument := regexp.MustCompile(`(?m)^    \('(\w+)', .*, (?:'([^']*)'|"([^"]*)")\),$`)
	started := regexp.MustCompile(`\bnode\('(\w+)'`)
	for _, name := range []string{"arena", "arm", "demo", "replay"} {
		python := string(must(os.ReadFile(filepath.Join("..", "..", "launch", name+".launch.py")))(t))
		var twin struct {
			Args []struct {
				Name        string `xml:"name,attr"`
				Description string `xml:"description,attr"`
			} `xml:"arg"`
			Nodes []struct {
				Package string `xml:"pkg,attr"`
				Exec    string `xml:"exec,attr"`
			} `xml:"node"`
		}
		if err := xml.Unmarshal(must(os.ReadFile(filepath.Join("..", "..", "launch", name+".launch.xml")))(t),
			&twin); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var arguments, inTwin, nodes, nodesInTwin []string
		for _, m := range argument.FindAllStringSubmatch(python, -1) {
			arguments = append(arguments, m[1]+": "+m[2]+m[3])
		}
		for _, a := range twin.Args {
			inTwin = append(inTwin, a.Name+": "+a.Description)
		}
		if len(arguments) == 0 || !slices.Equal(arguments, inTwin) {
			t.Errorf("%s: arguments %q, in XML %q", name, arguments, inTwin)
		}
		for _, m := range started.FindAllStringSubmatch(python, -1) {
			nodes = append(nodes, m[1])
			if _, err := os.Stat(filepath.Join("..", "..", "nodes", m[1], "main.go")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, n := range twin.Nodes {
			if n.Package == "vnd" {
				nodesInTwin = append(nodesInTwin, n.Exec)
			}
		}
		if len(nodes) == 0 || !slices.Equal(nodes, nodesInTwin) {
			t.Errorf("%s: nodes %q, in XML %q", name, nodes, nodesInTwin)
		}
	}
}
