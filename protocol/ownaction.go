package protocol

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// ownName matches the names of a program's own actions and of their parameters.
var ownName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// reserved lists the names that have a meaning in rules or in decisions, besides those of actions.
func reserved() []string { return []string{"escalate", "retriage", "allow_again", "keep_open"} }

// CheckOwn returns an error if the specification cannot be one of a program's own actions. The error
// begins with the name of the wrong field. Such an action has Name, Params, Main, NeedsOne, Doc,
// Limit, PullsOnly, Past and With. The other fields describe changes of an issue, which only built-in
// actions make.
func (s ActionSpec) CheckOwn() error {
	_, known := SpecOf(s.Name)
	switch {
	case !ownName.MatchString(s.Name):
		return wrong("Name", "want at most 64 of a-z, 0-9 and _, the first a letter, got %q", cut(s.Name))
	case known || slices.Contains(reserved(), s.Name):
		return wrong("Name", "%s is a built-in action; choose another name", s.Name)
	case s.Limit < 1:
		return wrong("Limit", "want 1 or more, the number of actions per event, got %d", s.Limit)
	}
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"Aliases", s.Aliases != nil},
		{"CountsAs", s.CountsAs != ""},
		{"RecordOnly", s.RecordOnly},
		{"Recalls", s.Recalls},
		{"Events", s.Events != nil},
		{"Overridable", s.Overridable},
		{"Thing", s.Thing != ""},
		{"Gone", s.Gone},
	} {
		if f.set {
			return fmt.Errorf("%s: only built-in actions have it", f.name)
		}
	}
	return s.checkOwnParams()
}

func (s ActionSpec) checkOwnParams() error {
	seen := map[string]bool{}
	for i, p := range s.Params {
		at := fmt.Sprintf("Params[%d].", i)
		switch {
		case !ownName.MatchString(p.Name):
			return fmt.Errorf("%sName: want at most 64 of a-z, 0-9 and _, the first a letter, got %q", at, cut(p.Name))
		case slices.Contains(append(IntentParams(), "type", "once", "key", "after", "veto"), p.Name):
			return fmt.Errorf("%sName: %s has a meaning of its own in actions; choose another name", at, p.Name)
		case seen[p.Name]:
			return fmt.Errorf("%sName: %s is used twice", at, p.Name)
		case p.Kind < KindText || p.Kind > KindDuration:
			return fmt.Errorf("%sKind: there is no kind %d", at, p.Kind)
		case p.Enum != nil && p.Kind != KindText && p.Kind != KindTexts:
			return errors.New(at + "Enum: only KindText and KindTexts have one")
		}
		seen[p.Name] = true
	}
	switch {
	case s.Main != "" && !seen[s.Main]:
		return wrong("Main", "there is no parameter %q", cut(s.Main))
	case s.NeedsOne && len(s.Params) == 0:
		return wrong("NeedsOne", "there are no parameters")
	}
	return nil
}

// wrong returns an error that begins with the name of a field.
func wrong(field, format string, args ...any) error {
	return fmt.Errorf(field+": "+format, args...)
}
