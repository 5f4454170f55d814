package ros

import (
	"fmt"
	"slices"
	"strings"

	"vnd/pkg/core/param"
)

// declaredLate is the prefix of parameters that are declared with their publisher or subscription, in a managed node
// long after its set-up.
const declaredLate = "qos_overrides."

// warnOfUnknown warns of each parameter of the command line and its files that no node declared. ROS ignores them in
// silence. What a wildcard sets may be for nodes of other processes: there only a name that looks mistyped counts.
func (c *Context) warnOfUnknown() {
	c.mu.Lock()
	nodes := slices.Clone(c.nodes)
	c.mu.Unlock()
	type place struct{ name, where string }
	unused, used := map[place]*Node{}, map[place]bool{}
	for _, n := range nodes {
		none := n.parameters.Unused()
		for name, a := range c.overrides(n) {
			if slices.ContainsFunc(none, func(u param.Assignment) bool { return u.Name == name }) {
				unused[place{name, a.Where}] = n
			} else {
				used[place{name, a.Where}] = true
			}
		}
	}
	for _, n := range nodes {
		for _, a := range n.parameters.Unused() {
			p := place{a.Name, a.Where}
			if line := n.unknown(a); line != "" && unused[p] == n && !used[p] {
				n.log.Warn().Msg(line)
			}
		}
	}
}

// mistyped is how many letters of a wildcard's parameter may be wrong.
const mistyped = 2

// unknown is the warning of a parameter that is not declared, "" for none.
func (n *Node) unknown(a param.Assignment) string {
	best, typos := param.Nearest(a.Name, n.parameters.Names())
	if strings.HasPrefix(a.Name, declaredLate) || a.Shared && (best == "" || typos > mistyped) {
		return ""
	}
	line := fmt.Sprintf("%s: parameter %q: unknown to %s and not used", a.Where, a.Name, n.FullName())
	if best != "" {
		line += fmt.Sprintf(", did you mean %q?", best)
	}
	return line
}
