package githubtest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/github/githubtest/internal/render"
	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

const (
	maxComment  = 65536 // characters
	maxComments = 2500  // on an issue
)

// A located comment is a comment with its issue.
type located struct {
	state.Comment
	issue *state.Record
}

func renderLocated(r *state.Repository) func(located) object {
	return func(c located) object { return render.Comment(r, c.issue, c.Comment) }
}

func listComments(in *input) answer {
	return listed(in.r, changed(in, []*state.Record{in.issue}), renderLocated(in.repo))
}

func listRepoComments(in *input) answer {
	var issues []*state.Record
	for _, i := range in.repo.Issues {
		issues = append(issues, i)
	}
	list := changed(in, issues)
	slices.SortFunc(list, func(a, b located) int { return int(a.ID - b.ID) })
	return listed(in.r, list, renderLocated(in.repo))
}

// changed returns the comments that changed at or after the time "since" of the query.
func changed(in *input, issues []*state.Record) []located {
	since, _ := time.Parse(time.RFC3339, in.r.URL.Query().Get("since"))
	var list []located
	for _, i := range issues {
		for _, c := range i.Comments {
			if !c.UpdatedAt.Before(since) {
				list = append(list, located{c, i})
			}
		}
	}
	return list
}

// commentBody reads and checks {"body": "..."}.
func commentBody(in *input) (string, answer, bool) {
	var body struct{ Body string }
	switch {
	case !in.decode(&body) || strings.TrimSpace(body.Body) == "":
		return "", invalid("IssueComment", "body", "missing_field", ""), false
	case utf8.RuneCountInString(body.Body) > maxComment:
		return "", invalid("IssueComment", "body", "custom", "body is too long (maximum is 65536 characters)"), false
	}
	return body.Body, answer{}, true
}

func createComment(in *input) answer {
	body, a, ok := commentBody(in)
	if !ok {
		return a
	}
	switch {
	case in.issue.Locked && !slices.Contains([]string{"admin", "maintain", "write"}, permissionOf(in.repo, in.actor)):
		return failure(http.StatusForbidden, "Unable to create comment because issue is locked.")
	case len(in.issue.Comments) >= maxComments:
		return failure(http.StatusForbidden, "Commenting is disabled on issues with more than 2500 comments")
	}
	c := in.repo.NewComment(in.issue, in.actor, body)
	a = reply(http.StatusCreated, render.Comment(in.repo, in.issue, c))
	a.header.Set("Location", render.API(in.repo, "/issues/comments/%d", c.ID))
	return a
}

// findComment returns the issue of the comment in the path, and the comment's index in it.
func findComment(in *input) (*state.Record, int) {
	id, err := strconv.ParseInt(in.vars["id"], 10, 64)
	if err != nil {
		return nil, 0
	}
	return in.repo.Comment(id)
}

func getComment(in *input) answer {
	i, k := findComment(in)
	if i == nil {
		return notFound()
	}
	return reply(http.StatusOK, render.Comment(in.repo, i, i.Comments[k]))
}

func updateComment(in *input) answer {
	i, k := findComment(in)
	if i == nil {
		return notFound()
	}
	body, a, ok := commentBody(in)
	if !ok {
		return a
	}
	in.repo.EditComment(i, k, body)
	return reply(http.StatusOK, render.Comment(in.repo, i, i.Comments[k]))
}

func deleteComment(in *input) answer {
	i, k := findComment(in)
	if i == nil {
		return notFound()
	}
	in.repo.RemoveComment(i, in.actor, k)
	return reply(http.StatusNoContent, nil)
}

func listReactions(in *input) answer { return reactionsOf(in, in.issue.Reactions) }

func listCommentReactions(in *input) answer {
	i, k := findComment(in)
	if i == nil {
		return notFound()
	}
	return reactionsOf(in, i.Comments[k].Reactions)
}

// reactionsOf lists reactions. It supports the filter "content".
func reactionsOf(in *input, list []state.Reaction) answer {
	want := in.r.URL.Query().Get("content")
	list = slices.DeleteFunc(slices.Clone(list), func(r state.Reaction) bool { return want != "" && r.Content != want })
	return listed(in.r, list, func(r state.Reaction) object { return render.Reaction(r, in.clock.Now()) })
}

// createReaction answers 201 for a new reaction and 200 for one that already exists.
func createReaction(in *input) answer { return react(in, &in.issue.Reactions) }

func createCommentReaction(in *input) answer {
	i, k := findComment(in)
	if i == nil {
		return notFound()
	}
	return react(in, &i.Comments[k].Reactions)
}

// react adds the reaction of a call to those of an issue or a comment.
func react(in *input, to *[]state.Reaction) answer {
	var body struct{ Content string }
	in.decode(&body)
	if !slices.Contains(render.Reactions(), body.Content) {
		return invalid("Reaction", "content", "invalid", "")
	}
	r := state.Reaction{Author: in.actor, Content: body.Content}
	if !r.Add(to) {
		return reply(http.StatusOK, render.Reaction(r, in.clock.Now()))
	}
	return reply(http.StatusCreated, render.Reaction(r, in.clock.Now()))
}
