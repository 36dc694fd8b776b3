package archtest

import (
	"maps"
	"slices"
)

// A graph maps each node to the nodes that it uses.
type graph map[string]map[string]bool

// use records that one node uses another. A node that uses itself is not recorded.
func (g graph) use(from, to string) {
	if from == to {
		return
	}
	if g[from] == nil {
		g[from] = map[string]bool{}
	}
	g[from][to] = true
}

// circles returns the sets of two or more nodes that all reach each other, each set sorted. It is
// Kosaraju's algorithm: a first search orders the nodes by the time at which it leaves them, and
// a second search follows the arrows backwards.
func (g graph) circles() [][]string {
	var left []string
	seen := map[string]bool{}
	for _, node := range slices.Sorted(maps.Keys(g)) {
		g.visit(node, seen, func(n string) { left = append(left, n) })
	}
	back := graph{}
	for from, list := range g {
		for to := range list {
			back.use(to, from)
		}
	}
	var circles [][]string
	clear(seen)
	for _, node := range slices.Backward(left) {
		var circle []string
		back.visit(node, seen, func(n string) { circle = append(circle, n) })
		if len(circle) > 1 {
			slices.Sort(circle)
			circles = append(circles, circle)
		}
	}
	return circles
}

// visit visits a node and all that it uses, each once. It calls leave(n) after the nodes that n
// uses have been visited.
func (g graph) visit(node string, seen map[string]bool, leave func(string)) {
	if seen[node] {
		return
	}
	seen[node] = true
	for next := range g[node] {
		g.visit(next, seen, leave)
	}
	leave(node)
}
