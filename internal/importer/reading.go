package importer

import (
	"iter"
	"math"

	"gopkg.in/yaml.v3"
)

// A document is a parsed file.
type document struct {
	name string // of the file
	root *yaml.Node
}

// A reading is the content of one tool's configuration as rules of ours.
type reading struct {
	before findings // that belong to no part
	// parts are in the order of the source. They are read one at a time, so that the
	// caller can stop when the rules become too large.
	parts  iter.Seq[part]
	after  findings       // hints that follow those of the parts
	limits map[string]int // of actions of a type per event, beside those that the rules need
	shadow bool           // the source writes nothing
}

// A part is one key or step of the source and the rules that it becomes.
type part struct {
	name     string
	from, to int // lines of the source; 0: none
	rules    []rule
	found    findings
	interval bool // its comments may follow each other at once
	comments bool // so they may, and there is no limit to their number
}

// eachPair returns the parts of the top mapping's keys; keys that keep refuses are left
// out. A part ends where the next key starts.
func eachPair(pairs []pair, keep func(key string) bool, read func(p pair) part) iter.Seq[part] {
	return func(yield func(part) bool) {
		for i, p := range pairs {
			if !keep(p.key.Value) {
				continue
			}
			one := read(p)
			one.name, one.from, one.to = p.key.Value, p.key.Line, math.MaxInt
			if i+1 < len(pairs) {
				one.to = pairs[i+1].key.Line - 1
			}
			if !yield(one) {
				return
			}
		}
	}
}

// everyKey keeps all keys.
func everyKey(string) bool { return true }
