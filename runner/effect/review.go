package effect

import (
	"slices"

	"github.com/org/foreman-action/protocol"
)

// RequestReview requests reviews of a pull request. Requests that exist stay.
type RequestReview struct {
	Users []string // logins
	Teams []string // slugs
}

func (RequestReview) action() string { return protocol.ActionRequestReview }

// values has the names of teams as [TeamName] returns them, so that they differ from logins.
func (e RequestReview) values() []string {
	names := slices.Clone(e.Users)
	for _, slug := range e.Teams {
		names = append(names, TeamName(slug))
	}
	return names
}

// TeamName returns the name of a team among those of people. It is not a login.
func TeamName(slug string) string { return "team/" + slug }
