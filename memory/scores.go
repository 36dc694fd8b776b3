package memory

import (
	"errors"
	"fmt"
	"time"
)

// Scores compare the actions that rules in shadow mode predicted with the actions of people. Only earlier
// versions of the program counted them, by the rule's id; see [Shadow] for those that are counted now. The zero
// value is empty.
type Scores struct {
	// Rules contains the score of each rule by its id, and an agent's score under "(agent)".
	Rules map[string]Score `json:"rules,omitempty"`
}

// A Score counts how often people took the action that a rule predicted.
type Score struct {
	Agreed    int       `json:"agreed"`
	Disagreed int       `json:"disagreed"`
	Since     time.Time `json:"since"` // time of the first prediction that the score counts; UTC
}

const maxScores = 300 // in Scores

// check verifies the bounds of the scores.
func (s *Scores) check() error {
	if s == nil {
		return nil
	}
	if len(s.Rules) > maxScores {
		return fmt.Errorf("it has %d scores, more than %d", len(s.Rules), maxScores)
	}
	for id, score := range s.Rules {
		if stored(id) > maxShort/8 || !storable(score.Since) ||
			min(score.Agreed, score.Disagreed) < 0 || max(score.Agreed, score.Disagreed) > maxCount {
			return errors.New("invalid score: rule, time or count out of range")
		}
	}
	return nil
}
