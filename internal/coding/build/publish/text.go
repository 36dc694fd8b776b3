package publish

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/org/foreman-action/internal/coding/build"
	"github.com/org/foreman-action/internal/coding/build/machine"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/handoff"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// The markers identify our texts; each is the last line of a text. Text of an agent cannot contain
// a marker, because package sanitize changes it.
const (
	commentMarker = "<!-- foreman:build -->"
	headMarker    = "<!-- foreman:build head=%s -->" // of a pull request
)

var headPattern = regexp.MustCompile(`<!-- foreman:build head=([0-9a-f]{40,64}) -->`)

// publishedHead returns the commit that we last pushed, from the marker in the pull request's
// body. It is empty if there is no marker.
func publishedHead(body string) string {
	all := headPattern.FindAllStringSubmatch(body, -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}

// These constants limit the text of agents. GitHub accepts at most 65,536 characters, and escaping
// makes text longer.
const (
	maxTitle   = 80
	maxSummary = 8000
	maxLine    = 400
	maxLines   = 30
)

// pullText returns title and body of the pull request.
func pullText(r build.Report, repository string, issue *triage.Ref) github.PullText {
	summary := summaryOf(r)
	title, _, _ := strings.Cut(strings.TrimSpace(summary), "\n")
	if title = sanitize.Value(text.Shorten(title, maxTitle)); title == "" {
		title = r.TaskID
	}
	var b strings.Builder
	if summary != "" {
		b.WriteString(sanitize.Comment(text.Shorten(summary, maxSummary), sanitize.Options{}) + "\n\n")
	}
	details(&b, r)
	b.WriteString("One agent wrote this change and another inspected it. Read it before you merge it.\n\n")
	if issue != nil {
		at := fmt.Sprintf("#%d", issue.Number)
		if !strings.EqualFold(issue.Owner+"/"+issue.Repo, repository) {
			at = issue.String()
		}
		fmt.Fprintf(&b, "Closes %s\n\n", at)
	}
	fmt.Fprintf(&b, headMarker, r.HeadSHA)
	return github.PullText{Title: title, Body: b.String()}
}

func summaryOf(r build.Report) string {
	if r.Data == nil {
		return ""
	}
	return r.Data.Summary
}

// details writes the verdict, the checks and the open findings.
func details(b *strings.Builder, r build.Report) {
	fmt.Fprintf(b, "**%s** after %s.\n\n", verdict(r), rounds(r.Round))
	for i, c := range r.Checks {
		if i == maxLines {
			fmt.Fprintf(b, "- and %d more checks\n", len(r.Checks)-maxLines)
			break
		}
		outcome := "passed"
		if !c.Passed {
			outcome = "**failed**"
		}
		fmt.Fprintf(b, "- check %s: %s\n", sanitize.Value(text.Shorten(c.Name, maxLine)), outcome)
	}
	if len(r.Checks) > 0 {
		b.WriteString("\n")
	}
	if len(r.OpenIssues) > 0 {
		b.WriteString("Open findings of the Inspector:\n\n")
		for i, issue := range r.OpenIssues {
			if i == maxLines {
				fmt.Fprintf(b, "- and %d more\n", len(r.OpenIssues)-maxLines)
				break
			}
			b.WriteString(finding(issue))
		}
		b.WriteString("\n")
	}
}

func finding(i handoff.Issue) string {
	line := fmt.Sprintf("- %s: %s", sanitize.Value(string(i.Severity)), sanitize.Value(text.Shorten(i.Description, maxLine)))
	if len(i.Paths) > 0 {
		line += " (" + sanitize.Value(text.Shorten(strings.Join(i.Paths, ", "), maxLine)) + ")"
	}
	return line + "\n"
}

func verdict(r build.Report) string {
	what := map[machine.Status]string{
		machine.Approved: "The Inspector approved", machine.ChangesRequested: "The Inspector did not approve", machine.Failed: "The run failed",
	}[r.Status]
	if r.Reason != nil {
		what += " (" + sanitize.Value(strings.ReplaceAll(string(*r.Reason), "_", " ")) + ")"
	}
	return what
}

func rounds(n int) string {
	if n == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", n)
}

// commentText returns the comment on the issue: the result of the run, and where its work is.
func (p *publication) commentText() string {
	r := p.report
	var b strings.Builder
	fmt.Fprintf(&b, "### `foreman build` · %s\n\n", sanitize.Value(r.TaskID))
	switch {
	case p.result.PRURL != nil:
		fmt.Fprintf(&b, "The pull request: %s\n\n", *p.result.PRURL)
	case p.result.CompareURL != nil:
		fmt.Fprintf(&b, "The pull request could not be opened. [Open it by hand](%s).\n\n", *p.result.CompareURL)
	}
	details(&b, r)
	if summary := summaryOf(r); summary != "" {
		b.WriteString(sanitize.Comment(text.Shorten(summary, maxSummary), sanitize.Options{}) + "\n\n")
	}
	problems := append(append([]handoff.Problem(nil), r.Errors...), p.result.Errors...)
	for i, problem := range problems {
		if i == maxLines {
			fmt.Fprintf(&b, "- and %d more\n", len(problems)-maxLines)
			break
		}
		fmt.Fprintf(&b, "- %s\n", sanitize.Value(text.Shorten(problem.Message, maxLine)))
	}
	if len(problems) > 0 {
		b.WriteString("\n")
	}
	b.WriteString(commentMarker)
	return b.String()
}

// comment writes a comment on the issue, or updates the existing one.
func (p *publication) comment(ctx context.Context) error {
	ref, body := *p.Issue, p.commentText()
	ours, err := p.ours(ctx)
	if err != nil {
		return failed("comment", err)
	}
	old, found, err := p.GitHub.FindComment(ctx, ref, ours)
	if err != nil {
		return failed("comment", err)
	}
	if !found || old.Body != body {
		written, err := p.GitHub.Write(ctx, ref, effect.Comment{ID: old.ID, Body: body})
		if errors.Is(err, triage.ErrUncertain) {
			var there bool
			if written.Comment, there, err = p.GitHub.FindComment(ctx, ref, func(c triage.Comment) bool { return ours(c) && c.Body == body }); err == nil && !there {
				err = fmt.Errorf("comment on %s: the comment may exist already; publish again, which never writes a second one", ref)
			}
		}
		if err != nil {
			return failed("comment", err)
		}
		old = written.Comment
	}
	p.result.CommentURL = &old.URL
	return nil
}

// ours returns a function that recognizes our comment on an issue. People can copy the marker, so
// the function also compares the author. If the token belongs to no account, any bot is accepted.
func (p *publication) ours(ctx context.Context) (func(triage.Comment) bool, error) {
	login, err := p.GitHub.Viewer(ctx)
	if _, bot := errors.AsType[*triage.PermissionError](err); err != nil && !bot {
		return nil, err
	}
	return func(c triage.Comment) bool {
		mine := strings.EqualFold(c.Author, login)
		if login == "" {
			mine = strings.HasSuffix(c.Author, "[bot]")
		}
		return mine && strings.HasSuffix(strings.TrimSpace(c.Body), commentMarker)
	}, nil
}
