package memory

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Scores compare the actions that rules in shadow mode predicted with the actions of people.
// [Scores.Predict] and [Scores.Settle] keep the scores within their bounds. The zero value is
// empty.
type Scores struct {
	// Open lists the predictions that are not settled yet, oldest first.
	Open []Prediction `json:"open,omitempty"`
	// Rules contains the score of each rule by its id, and an agent's score under "(agent)".
	Rules map[string]Score `json:"rules,omitempty"`
}

// A Prediction is one action that a rule in shadow mode would have carried out.
type Prediction struct {
	At    time.Time `json:"at"` // UTC
	Issue int       `json:"issue"`
	Rule  string    `json:"rule"`
	Type  string    `json:"type"`            // such as protocol.ActionAddLabel
	Value string    `json:"value,omitempty"` // such as the label
}

// A Score counts how often people took the action that a rule predicted.
type Score struct {
	Agreed    int       `json:"agreed"`
	Disagreed int       `json:"disagreed"`
	Since     time.Time `json:"since"` // time of the first prediction that the score counts; UTC
}

// The bounds of Scores, and the thresholds of Score.Ready.
const (
	maxPredictions = 300
	maxScores      = 300
	maxPredicted   = 200       // bytes of a value
	maxOpen        = 100 << 10 // bytes of all predictions in the stored form

	readyCount   = 20
	readyPercent = 95
)

// Settled returns how many predictions the score counts.
func (s Score) Settled() int { return s.Agreed + s.Disagreed }

// Ready reports whether a rule can leave shadow mode: people agreed with 95 % of at least 20
// predictions.
func (s Score) Ready() bool {
	return s.Settled() >= readyCount && s.Agreed*100 >= readyPercent*s.Settled()
}

// Predict adds an open prediction. An equal open prediction stays unchanged. If there are more
// than 300, or more than can be stored, the oldest are dropped.
func (s *Scores) Predict(p Prediction) {
	p.At, p.Rule, p.Value = clipTime(p.At), clip(p.Rule, maxShort/8), clip(p.Value, maxPredicted)
	p.Type = clip(p.Type, maxShort/8)
	if p.Issue < 1 || slices.ContainsFunc(s.Open, p.same) {
		return
	}
	s.Open = append(slices.Clone(s.Open), p)
	slices.SortStableFunc(s.Open, func(a, b Prediction) int { return a.At.Compare(b.At) })
	sizes := roomOf(s.Open)
	for len(sizes) > maxPredictions || sizes.sum() > maxOpen {
		s.Open, sizes = s.Open[1:], sizes[1:]
	}
}

func (p Prediction) same(other Prediction) bool {
	other.At = p.At
	return p == other
}

// Due returns the open predictions that were made at or before a time, oldest first.
func (s *Scores) Due(before time.Time) []Prediction {
	i := slices.IndexFunc(s.Open, func(p Prediction) bool { return p.At.After(before) })
	if i < 0 {
		i = len(s.Open)
	}
	return slices.Clone(s.Open[:i])
}

// Settle removes an open prediction and counts whether people agreed with it. A prediction that
// is not open changes nothing. Scores of more than 300 rules are not kept.
func (s *Scores) Settle(p Prediction, agreed bool) {
	if !s.Drop(p) {
		return
	}
	score, known := s.Rules[p.Rule]
	if !known && len(s.Rules) == maxScores {
		return
	}
	if !known {
		score.Since = p.At
	}
	if agreed {
		score.Agreed = plus(score.Agreed, 1)
	} else {
		score.Disagreed = plus(score.Disagreed, 1)
	}
	rules := maps.Clone(s.Rules)
	if rules == nil {
		rules = map[string]Score{}
	}
	rules[p.Rule] = score
	s.Rules = rules
}

// Drop removes a prediction whose outcome will never be known, and reports whether it was open.
func (s *Scores) Drop(p Prediction) bool {
	n := len(s.Open)
	s.Open = slices.DeleteFunc(slices.Clone(s.Open), p.same)
	return len(s.Open) < n
}

// check verifies the bounds of the scores.
func (s *Scores) check() error {
	if s == nil {
		return nil
	}
	if len(s.Open) > maxPredictions || len(s.Rules) > maxScores {
		return fmt.Errorf("it has %d predictions and %d scores, more than %d or %d", len(s.Open), len(s.Rules), maxPredictions, maxScores)
	}
	for _, p := range s.Open {
		if !storable(p.At) || p.Issue < 1 || p.Issue > maxCount ||
			stored(p.Rule) > maxShort/8 || stored(p.Type) > maxShort/8 || stored(p.Value) > maxPredicted {
			return errors.New("invalid prediction: issue, time or text out of range")
		}
	}
	for id, score := range s.Rules {
		if stored(id) > maxShort/8 || !storable(score.Since) ||
			min(score.Agreed, score.Disagreed) < 0 || max(score.Agreed, score.Disagreed) > maxCount {
			return errors.New("invalid score: rule, time or count out of range")
		}
	}
	return nil
}
