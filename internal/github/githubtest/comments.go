package githubtest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const maxComment = 65536 // characters

// A located comment knows its issue.
type located struct {
	Comment
	issue *issue
}

func (in *input) renderLocated(c located) object { return in.repo.renderComment(c.issue, c.Comment) }

func listComments(in *input) answer {
	return listed(in.r, in.changed([]*issue{in.issue}), in.renderLocated)
}

func listRepoComments(in *input) answer {
	var issues []*issue
	for _, i := range in.repo.issues {
		issues = append(issues, i)
	}
	list := in.changed(issues)
	slices.SortFunc(list, func(a, b located) int { return int(a.ID - b.ID) })
	return listed(in.r, list, in.renderLocated)
}

// changed returns the comments changed at or after the query's since.
func (in *input) changed(issues []*issue) []located {
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
func (in *input) commentBody() (string, answer, bool) {
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
	body, a, ok := in.commentBody()
	if !ok {
		return a
	}
	c := in.repo.newComment(in.issue, in.actor(), body)
	a = reply(http.StatusCreated, in.repo.renderComment(in.issue, c))
	a.header.Set("Location", in.repo.api("/issues/comments/%d", c.ID))
	return a
}

// comment finds the comment of the path and its place in its issue.
func (in *input) comment() (*issue, int) {
	id, err := strconv.ParseInt(in.vars["id"], 10, 64)
	if err != nil {
		return nil, 0
	}
	return in.repo.comment(id)
}

func (r *Repo) comment(id int64) (*issue, int) {
	for _, i := range r.issues {
		k := slices.IndexFunc(i.Comments, func(c Comment) bool { return c.ID == id })
		if k >= 0 && !i.deleted && i.transferred == "" {
			return i, k
		}
	}
	return nil, 0
}

func getComment(in *input) answer {
	i, k := in.comment()
	if i == nil {
		return notFound()
	}
	return reply(http.StatusOK, in.repo.renderComment(i, i.Comments[k]))
}

func updateComment(in *input) answer {
	i, k := in.comment()
	if i == nil {
		return notFound()
	}
	body, a, ok := in.commentBody()
	if !ok {
		return a
	}
	i.Comments[k].Body, i.Comments[k].UpdatedAt = body, in.now()
	return reply(http.StatusOK, in.repo.renderComment(i, i.Comments[k]))
}

func deleteComment(in *input) answer {
	i, k := in.comment()
	if i == nil {
		return notFound()
	}
	in.repo.removeComment(i, in.actor(), k)
	return reply(http.StatusNoContent, nil)
}

func listReactions(in *input) answer { return in.listReactions(in.issue.Reactions) }

func listCommentReactions(in *input) answer {
	i, k := in.comment()
	if i == nil {
		return notFound()
	}
	return in.listReactions(i.Comments[k].Reactions)
}

// listReactions knows the filter content.
func (in *input) listReactions(list []Reaction) answer {
	want := in.r.URL.Query().Get("content")
	list = slices.DeleteFunc(slices.Clone(list), func(r Reaction) bool { return want != "" && r.Content != want })
	return listed(in.r, list, in.renderReaction)
}

// add puts a reaction there, and reports whether it is new.
func (r Reaction) add(list *[]Reaction) bool {
	there := slices.ContainsFunc(*list, func(old Reaction) bool { return old.Author == r.Author && old.Content == r.Content })
	if !there {
		*list = append(*list, r)
	}
	return !there
}

// createReaction answers 201 for a new reaction and 200 for one that is there.
func createReaction(in *input) answer { return in.react(&in.issue.Reactions) }

func createCommentReaction(in *input) answer {
	i, k := in.comment()
	if i == nil {
		return notFound()
	}
	return in.react(&i.Comments[k].Reactions)
}

// react adds the reaction of a call to those of an issue or a comment.
func (in *input) react(to *[]Reaction) answer {
	var body struct{ Content string }
	in.decode(&body)
	if !slices.Contains(reactions, body.Content) {
		return invalid("Reaction", "content", "invalid", "")
	}
	r := Reaction{Author: in.actor(), Content: body.Content}
	if !r.add(to) {
		return reply(http.StatusOK, in.renderReaction(r))
	}
	return reply(http.StatusCreated, in.renderReaction(r))
}
