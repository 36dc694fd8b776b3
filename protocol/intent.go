package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The parameters that every action may have besides its own. See [ActionItem.Intent].
const (
	ParamRationale  = "rationale"
	ParamConfidence = "confidence"
	ParamSuggest    = "suggest"
)

// IntentParams returns the names of the parameters that every action may have.
func IntentParams() []string { return []string{ParamRationale, ParamConfidence, ParamSuggest} }

// A Confidence is how sure the source of an action is: one of the words that GitHub uses. The empty
// value means that the source did not state it.
type Confidence string

// The confidences, the lowest first.
const (
	ConfidenceLow    Confidence = "low"
	ConfidenceMedium Confidence = "medium"
	ConfidenceHigh   Confidence = "high"
)

// Confidences returns the words for a confidence, the lowest first.
func Confidences() []Confidence {
	return []Confidence{ConfidenceLow, ConfidenceMedium, ConfidenceHigh}
}

// The lowest numbers that mean a high and a medium confidence.
const (
	highFrom   = 0.9
	mediumFrom = 0.6
)

// AtLeast reports whether a confidence is as high as another one, or higher. The empty value is lower
// than all words.
func (c Confidence) AtLeast(least Confidence) bool {
	return slices.Index(Confidences(), c) >= slices.Index(Confidences(), least)
}

// An Intent is why an action is requested and how sure its source is. The zero value states nothing.
type Intent struct {
	Rationale  string     // untrusted if an agent wrote it; empty: not stated
	Confidence Confidence // empty: not stated
	Suggest    bool       // the action must be proposed to a person first
}

// ParseConfidence parses a word without regard to case, or a JSON number from 0 to 1: 0.9 and more
// are high, 0.6 and more are medium, and the rest is low. Null is the empty value. raw must be JSON.
func ParseConfidence(raw json.RawMessage) (Confidence, error) {
	switch kind(raw) {
	case "null":
		return "", nil
	case "a string":
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return "", wantConfidence(cut(string(raw)))
		}
		for _, word := range Confidences() {
			if strings.EqualFold(s, string(word)) {
				return word, nil
			}
		}
		return "", wantConfidence(strconv.Quote(cut(s)))
	case "a number":
		n, err := strconv.ParseFloat(strings.TrimSpace(string(raw)), 64)
		switch {
		case err != nil || n < 0 || n > 1:
			return "", wantConfidence(cut(string(raw)))
		case n >= highFrom:
			return ConfidenceHigh, nil
		case n >= mediumFrom:
			return ConfidenceMedium, nil
		}
		return ConfidenceLow, nil
	}
	return "", wantConfidence(kind(raw))
}

func wantConfidence(got string) error {
	return fmt.Errorf("want low, medium, high or a number from 0 to 1, got %s", got)
}

// Intent returns why the action is requested and how sure its source is. The error joins the mistakes
// of the three parameters, each of which begins with the name of its parameter.
func (a ActionItem) Intent() (Intent, error) {
	var in Intent
	var wrong []string
	if raw, ok := a.present(ParamConfidence); ok {
		c, err := ParseConfidence(raw)
		if err != nil {
			wrong = append(wrong, ParamConfidence+": "+err.Error())
		}
		in.Confidence = c
	}
	text, _, err := a.Text(ParamRationale)
	if err != nil {
		wrong = append(wrong, err.Error())
	}
	if !blank(text) {
		in.Rationale = text
	}
	if raw, ok := a.present(ParamSuggest); ok {
		if err := json.Unmarshal(raw, &in.Suggest); err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: want true or false, got %s", ParamSuggest, kind(raw)))
		}
	}
	if len(wrong) > 0 {
		return Intent{}, errors.New(strings.Join(wrong, "; "))
	}
	return in, nil
}
