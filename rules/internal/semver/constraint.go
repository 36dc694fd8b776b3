package semver

import (
	"fmt"
	"strings"

	"github.com/org/foreman-action/internal/text"
)

// A Constraint is a list of alternatives. A version satisfies an alternative if it is within all of
// its bounds.
type Constraint struct {
	text         string
	alternatives [][]bound
}

// A bound is a comparison with a version.
type bound struct {
	op      string // "<", "<=", ">", ">=", "=" or "!="
	version Version
}

const (
	maxConstraint = 256 // bytes
	likeThis      = `write it like ">= 1.2.0, < 2.0.0", "^1.4" or "~1.4.2 || 2.0.0"`
)

// ParseConstraint parses alternatives separated by "||". An alternative is a list of comparisons
// separated by commas or spaces. Pre-releases only follow the order of versions: 2.0.0-rc.1 is less
// than 2.0.0, so "<2.0.0" allows it. Only "^" and "~" also exclude pre-releases of their upper end.
func ParseConstraint(s string) (*Constraint, error) {
	if len(s) > maxConstraint {
		return nil, fmt.Errorf("the constraint has %d bytes; at most %d are allowed", len(s), maxConstraint)
	}
	c := &Constraint{text: s}
	for alternative := range strings.SplitSeq(s, "||") {
		bounds, err := parseBounds(alternative)
		if err != nil {
			return nil, err
		}
		if len(bounds) == 0 {
			return nil, unreadable(s)
		}
		c.alternatives = append(c.alternatives, bounds)
	}
	return c, nil
}

// unreadable is the error of a constraint that cannot be parsed.
func unreadable(s string) error {
	return fmt.Errorf("semver cannot read %q; %s", text.Shorten(s, text.Quoted), likeThis)
}

func parseBounds(s string) ([]bound, error) {
	const between, operators = " \t,", "<>=!^~"
	var bounds []bound
	for s = strings.Trim(s, between); s != ""; s = strings.TrimLeft(s, between) {
		rest := strings.TrimLeft(s, operators)
		op := s[:len(s)-len(rest)]
		rest = strings.TrimLeft(rest, " \t")
		written := rest
		if i := strings.IndexAny(rest, between+operators); i >= 0 {
			written = rest[:i]
		}
		s = rest[len(written):]
		v, ok := Parse(written)
		if !ok {
			return nil, unreadable(op + written)
		}
		b, err := boundsOf(op, v, written)
		if err != nil {
			return nil, err
		}
		bounds = append(bounds, b...)
	}
	return bounds, nil
}

// boundsOf returns the bounds for an operator with a version. It fails if the minor or patch number
// is missing where it could mean either 0 or any number.
func boundsOf(op string, v Version, written string) ([]bound, error) {
	switch op {
	case "", "==":
		op = "="
	case "^", "~":
		return []bound{{">=", v}, {"<", v.above(op)}}, nil
	}
	switch op {
	case "<", ">=":
	case "=", "!=", "<=", ">":
		if v.parts < len(v.core) {
			return nil, fmt.Errorf("semver: %s%s leaves open which of %s.x is meant; write all three numbers, or ~%s for all of them", op, written, written, written)
		}
	default:
		return nil, fmt.Errorf("semver has no operator %s; it has <, <=, >, >=, =, !=, ^ and ~", text.Shorten(op, text.Quoted))
	}
	return []bound{{op, v}}, nil
}

// above returns the exclusive upper bound of ^v or ~v, such as 2.0.0-0 for ^1.2.3. The pre-release
// 0 excludes all pre-releases of 2.0.0. ^ keeps the first part that is not 0. ~ keeps the minor, or
// the major if v is only a major.
func (v Version) above(op string) Version {
	keep := min(v.parts, 2) - 1
	if op == "^" {
		for keep = 0; keep < v.parts-1 && v.core[keep] == 0; {
			keep++
		}
	}
	up := Version{parts: len(v.core), pre: []string{"0"}}
	copy(up.core[:], v.core[:keep+1])
	up.core[keep]++
	return up
}

// Allows reports whether v is within the constraint.
func (c *Constraint) Allows(v Version) bool {
	for _, bounds := range c.alternatives {
		all := true
		for _, b := range bounds {
			all = all && b.holds(v)
		}
		if all {
			return true
		}
	}
	return false
}

func (b bound) holds(v Version) bool {
	c := v.compare(b.version)
	switch b.op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	case ">=":
		return c >= 0
	case "!=":
		return c != 0
	}
	return c == 0
}
