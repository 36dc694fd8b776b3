package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Policy lists what the rules need in the policy section beyond its defaults.
type Policy struct {
	Action   string          // the action whose configuration was imported
	Types    map[string]bool // the types of the rules' actions
	Limits   map[string]int  // of actions per event, by type
	Interval bool            // no minimal time between comments
	Comments bool            // no minimal time between comments, and no limit to their number
	Writes   bool            // no limit to the number of changes
}

// need raises the limits of the policy so that the rule's actions are allowed.
func (p Policy) need(r rule) {
	for _, a := range r.then {
		if n := beyondUsual(a.name, r.count(a.name)); n > p.Limits[a.name] {
			p.Limits[a.name] = n
		}
	}
}

// beyondUsual returns n if n actions of a type per event exceed the policy's default limit, else 0.
func beyondUsual(action string, n int) int {
	usual := 1
	if strings.HasSuffix(action, "_label") {
		usual = 5
	}
	if n <= usual {
		return 0
	}
	return n
}

// Section returns the policy section for the rules of all parts; "" if they need none. create and none
// are the formats of the reasons to create labels, and to have no limit.
func Section(parts []Policy, create, none string) string {
	var lines []string
	add := func(line, reason string, wants func(p Policy) bool) {
		var actions []string
		for _, p := range parts {
			if wants(p) && !slices.Contains(actions, p.Action) {
				actions = append(actions, p.Action)
			}
		}
		switch {
		case len(actions) == 0:
			return
		case reason != "":
			line += " # " + fmt.Sprintf(reason, strings.Join(actions, ", "))
		}
		lines = append(lines, "  "+line)
	}
	add("allow_close: true", "", func(p Policy) bool { return p.Types["close_issue"] })
	add("create_labels: true", create, func(p Policy) bool { return p.Types["add_label"] })
	if limits := limitsOf(parts); len(limits) > 0 {
		lines = append(lines, "  limits:")
		for _, action := range slices.Sorted(maps.Keys(limits)) {
			lines = append(lines, fmt.Sprintf("    %s: %d", action, limits[action]))
		}
	}
	add("max_writes_per_hour: 0", none, func(p Policy) bool { return p.Writes })
	add("comment_interval: 0s", none, func(p Policy) bool { return p.Interval })
	add("max_comments_per_issue: 0", none, func(p Policy) bool { return p.Comments })
	if len(lines) == 0 {
		return ""
	}
	return "policy:\n" + strings.Join(lines, "\n") + "\n"
}

// limitsOf returns the limits of actions. A limit is the sum of the parts' limits, because rules of
// all parts may fire for one event.
func limitsOf(parts []Policy) map[string]int {
	limits := map[string]int{}
	for _, p := range parts {
		for action := range p.Limits {
			sum := 0
			for _, other := range parts {
				switch n, listed := other.Limits[action]; {
				case listed:
					sum += n
				case other.Types[action] && strings.HasSuffix(action, "_label"):
					sum += 5 // the default limit for labels
				case other.Types[action]:
					sum++
				}
			}
			limits[action] = sum
		}
	}
	return limits
}
