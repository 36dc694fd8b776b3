// Package casing keeps texts in lower and upper case.
package casing

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/rules/internal/cost"
)

// A Cache keeps texts in lower or upper case. Each text is converted once. Each expression that
// uses the converted text is charged once for it. The zero value is empty. It is not safe for concurrent use.
type Cache []entry

// An entry is a text in lower or upper case.
type entry struct {
	from, to string
	upper    bool
	charged  bool // to the current expression
}

// most is the largest number of cached texts.
const most = 4

// Reset prepares the cache for the next expression.
func (c Cache) Reset() {
	for i := range c {
		c[i].charged = false
	}
}

// Convert returns s in lower or upper case. It charges the new text.
func (c *Cache) Convert(s string, up bool, text *cost.Budget) (string, error) {
	i := slices.IndexFunc(*c, func(e entry) bool { return e.upper == up && e.from == s })
	if i >= 0 {
		e := &(*c)[i]
		if e.charged {
			return e.to, nil
		}
		e.charged = true
		return e.to, text.Charge(len(s))
	}
	if err := text.Charge(len(s)); err != nil {
		return "", err
	}
	e := entry{from: s, to: strings.ToLower(s), upper: up, charged: true}
	if up {
		e.to = strings.ToUpper(s)
	}
	if len(*c) == most {
		*c = slices.Delete(*c, 0, 1)
	}
	*c = append(*c, e)
	return e.to, nil
}
