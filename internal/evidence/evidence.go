// Package evidence is the file with the results of a replay, which count as a start for the track records of
// rules. foreman rules backtest writes it. It does no I/O.
package evidence

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/order"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
)

// Version is the version of the file's form.
const Version = 1

// The bounds of a file.
const (
	MaxSize  = 1 << 20 // bytes
	MaxPairs = 5000
)

const (
	maxAction = 64        // bytes of the type of an action
	maxValue  = 600       // bytes of a value: of the 50 characters of a label, each with up to 12
	maxCount  = 1_000_000 // outcomes of a pair
	maxReason = 200       // characters of the decoder's error
)

// A File contains the results of a replay. The zero value has none.
type File struct {
	Version int       `json:"version"`
	Repo    string    `json:"repo"` // "owner/name"; the file counts in no other repository
	At      time.Time `json:"at"`   // time of the replay; UTC
	Since   time.Time `json:"since,omitzero"`
	Pairs   []Pair    `json:"pairs"`
}

// A Pair is the result for one kind of action of a rule.
type Pair struct {
	Digest string `json:"digest"` // of the rule and its action, as in rules.Result
	Action string `json:"action"` // such as protocol.ActionAddLabel
	Value  string `json:"value"`  // such as the label, as text.LabelKey returns it; empty: none
	Judged int    `json:"judged"` // decisions of people that can be compared with those of the rule
	Kept   int    `json:"kept"`   // those that agree
}

// compare sorts pairs, and finds equal ones.
func (p Pair) compare(other Pair) int {
	return cmp.Or(strings.Compare(p.Digest, other.Digest), strings.Compare(p.Action, other.Action), strings.Compare(p.Value, other.Value))
}

// ErrNewer means that a newer version of the program wrote the file.
var ErrNewer = errors.New("a newer version of the program wrote it")

// Counts reports whether a replay counts for actions of a type. It does not for closing, duplicates and
// locks, which only people's answers can prove, nor for comments, which a replay cannot judge.
func Counts(action string) bool {
	spec, _ := protocol.SpecOf(action)
	return !spec.Closes() && !spec.Posts() && action != protocol.ActionLock
}

// Decode reads a file for a repository, "owner/name"; empty: for any. It refuses a file of another repository,
// unknown keys, values out of range, and pairs that are not in the order of Encode.
func Decode(data []byte, repo string) (File, error) {
	if len(data) > MaxSize {
		return File{}, fmt.Errorf("it has more than %d bytes", MaxSize)
	}
	if !utf8.Valid(data) {
		return File{}, errors.New("it is not UTF-8")
	}
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return File{}, notJSON(err)
	}
	switch {
	case head.Version > Version:
		return File{}, fmt.Errorf("%w: it has version %d, and this program reads up to %d", ErrNewer, head.Version, Version)
	case head.Version < 1:
		return File{}, errors.New("it has no version")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var f File
	if err := d.Decode(&f); err != nil {
		return File{}, notJSON(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return File{}, errors.New("it has more than one JSON value")
	}
	if err := f.check(); err != nil {
		return File{}, err
	}
	if repo != "" && !strings.EqualFold(f.Repo, repo) {
		return File{}, fmt.Errorf("it is of the repository %s, not of %s", f.Repo, repo)
	}
	return f, nil
}

// notJSON returns an error with the beginning of the decoder's text, which may contain long names of the file.
func notJSON(err error) error {
	return fmt.Errorf("it is not the JSON of foreman rules backtest: %s", text.Shorten(err.Error(), maxReason))
}

// Encode returns the form of a file. Equal files have equal forms. It sets the version, sorts the pairs, and
// leaves out those for which a replay does not count.
func Encode(f File) ([]byte, error) {
	f.Version, f.At, f.Since = Version, f.At.UTC().Truncate(time.Second), f.Since.UTC().Truncate(time.Second)
	f.Pairs = slices.DeleteFunc(slices.Clone(f.Pairs), func(p Pair) bool { return !Counts(p.Action) || p.Judged == 0 })
	for i, p := range f.Pairs {
		f.Pairs[i].Value = text.LabelKey(p.Value)
	}
	order.Stable(f.Pairs, Pair.compare)
	if f.Pairs == nil {
		f.Pairs = []Pair{}
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("encode the evidence: %w", err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(f); err != nil {
		return nil, fmt.Errorf("encode the evidence: %w", err)
	}
	if b.Len() > MaxSize {
		return nil, fmt.Errorf("encode the evidence: it has more than %d bytes", MaxSize)
	}
	return b.Bytes(), nil
}

// check verifies the bounds of a file.
func (f File) check() error {
	if _, _, ok := protocol.SplitRepo(f.Repo); !ok || len(f.Repo) > 200 {
		return errors.New("its repository is not owner/name")
	}
	if year := f.At.UTC().Year(); f.At.IsZero() || year > 9999 || f.Since.UTC().Year() > 9999 {
		return errors.New("it has no valid time")
	}
	if len(f.Pairs) > MaxPairs {
		return fmt.Errorf("it has %d pairs, more than %d", len(f.Pairs), MaxPairs)
	}
	for i, p := range f.Pairs {
		switch {
		case !digestPattern().MatchString(p.Digest):
			return fmt.Errorf("pair %d: the digest is not 16 hexadecimal digits", i+1)
		case p.Action == "" || len(p.Action) > maxAction || len(p.Value) > maxValue:
			return fmt.Errorf("pair %d: the action is missing, or a text is too long", i+1)
		case p.Value != text.LabelKey(p.Value):
			return fmt.Errorf("pair %d: the value is not in the form in which labels are compared", i+1)
		case p.Kept < 0 || p.Judged < p.Kept || p.Judged > maxCount:
			return fmt.Errorf("pair %d: want 0 ≤ kept ≤ judged ≤ %d, got %d of %d", i+1, maxCount, p.Kept, p.Judged)
		case i > 0 && f.Pairs[i-1].compare(p) >= 0:
			return fmt.Errorf("pair %d: it is out of order, or there twice", i+1)
		}
	}
	return nil
}

// digestPattern matches a digest of rules.Result.
var digestPattern = text.Regexp(`^[0-9a-f]{16}$`)

// Start returns the outcomes with which the track record of a rule's action begins: at most half of the
// number that the policy demands, in the proportion of the replay. It is 0 of 0 without a result, and for
// actions for which a replay does not count.
func (f File) Start(digest, action, value string, of int) (kept, judged int) {
	if !Counts(action) || of < 0 {
		return 0, 0
	}
	spec, _ := protocol.SpecOf(action) // each label of add_labels counts as add_label
	i, found := slices.BinarySearchFunc(f.Pairs, Pair{Digest: digest, Action: spec.LimitName(), Value: text.LabelKey(value)}, Pair.compare)
	if !found || f.Pairs[i].Judged == 0 {
		return 0, 0
	}
	p := f.Pairs[i]
	judged = min(p.Judged, of/2)
	return judged * p.Kept / p.Judged, judged
}
