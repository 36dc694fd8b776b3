package rules

import (
	"slices"
	"strings"
)

// A casing is a text that lower or upper was asked for.
type casing struct {
	from, to string
	upper    bool
	paid     bool // by the present expression
}

// maxCasings bounds the texts that are kept in lower or upper case.
const maxCasings = 4

// inCase returns s in lower or upper case. The texts of last time are kept: they
// are made, and charged, once.
func (r *run) inCase(s string, up bool) (string, error) {
	i := slices.IndexFunc(r.cased, func(c casing) bool { return c.upper == up && c.from == s })
	if i < 0 {
		if err := r.build(len(s)); err != nil {
			return "", err
		}
		c := casing{from: s, to: strings.ToLower(s), upper: up, paid: true}
		if up {
			c.to = strings.ToUpper(s)
		}
		if len(r.cased) == maxCasings {
			r.cased = slices.Delete(r.cased, 0, 1)
		}
		r.cased = append(r.cased, c)
		return c.to, nil
	}
	c := &r.cased[i]
	if c.paid {
		return c.to, nil
	}
	c.paid = true
	return c.to, r.build(len(s))
}
