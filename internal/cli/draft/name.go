package draft

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/triage"
)

const fieldName = "event-name"

// CheckName returns an [*Error] for the name of an event that does not exist, such as
// issues.openned, and suggests a similar name. An empty name is accepted: the name in the payload
// is used.
func CheckName(name string) error {
	key := name
	if rest, target := strings.CutPrefix(name, triage.EventPullRequestTarget); target {
		key = triage.EventPullRequest + rest
	}
	event, _, _ := strings.Cut(key, ".")
	var events, keys, activities []string
	for _, k := range rules.Events() {
		of, activity, _ := strings.Cut(k, ".")
		if !slices.Contains(events, of) {
			events = append(events, of)
		}
		if activity != "*" {
			keys = append(keys, k)
		}
		if of == event && activity != "*" && activity != "" {
			activities = append(activities, activity)
		}
	}
	known := slices.Concat(events, keys)
	switch hint := yamlfile.DidYouMean(name, known); {
	case name == "" || slices.Contains(known, key) || event == triage.EventRepositoryDispatch:
		return nil
	case hint != "":
		return &Error{fieldName, fmt.Sprintf("unknown event %q%s", name, hint)}
	case len(activities) > 0:
		return &Error{fieldName, fmt.Sprintf("unknown event %q; %s takes %s", name, event, strings.Join(activities, ", "))}
	default:
		return &Error{fieldName, fmt.Sprintf("unknown event %q; want one of %s", name, strings.Join(events, ", "))}
	}
}
