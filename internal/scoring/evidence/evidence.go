// Package evidence finds signs that an issue is being worked on or is solved already, and issues
// that are about security. It sends no requests: callers pass the data.
package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/order"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// Max is the most pieces of evidence in a document.
const Max = 5

// maxBody is the most bytes of an issue or a pull request that are searched. GitHub allows 65,536
// characters.
const maxBody = 256 << 10

// A Pull is an open pull request.
type Pull struct {
	Number                 int
	Title, Body, Head, URL string // Head is the name of its branch
}

// A File is a file of the repository on its default branch.
type File struct{ Path, URL, Content string }

// Facts are the data in which evidence is searched. Fields that were not read are empty.
type Facts struct {
	Ref      triage.Ref
	Issue    triage.Issue
	Pulls    []Pull
	Files    []File
	Comments []triage.Comment
	Now      time.Time
}

// Find returns the evidence, the strongest first, and at most [Max] pieces.
func Find(f Facts) []Evidence {
	list := []Evidence{}
	f.Issue.Body = clip(f.Issue.Body)
	for _, p := range f.Pulls {
		if e, ok := linked(f.Ref, p); ok {
			list = append(list, e)
		} else if e, ok := similar(f.Issue.Title, p); ok {
			list = append(list, e)
		}
	}
	list = append(list, existing(f)...)
	if e, ok := assigned(f); ok {
		list = append(list, e)
	}
	order.Stable(list, func(a, b Evidence) int { return cmp.Compare(rank(b.Confidence), rank(a.Confidence)) })
	return list[:min(len(list), Max)]
}

// Risk returns the highest confidence of a list; low for an empty one.
func Risk(list []Evidence) Level {
	risk := Low
	for _, e := range list {
		if rank(e.Confidence) > rank(risk) {
			risk = e.Confidence
		}
	}
	return risk
}

func rank(l Level) int {
	return slices.Index([]Level{Low, Medium, High}, l)
}

// linked finds out whether a pull request cites an issue.
func linked(ref triage.Ref, p Pull) (Evidence, bool) {
	var where string
	switch {
	case cites(p.Title, ref):
		where = "title"
	case cites(clip(p.Body), ref):
		where = "description"
	case namesIssue(p.Head, ref.Number):
		where = "branch"
	default:
		return Evidence{}, false
	}
	return Evidence{
		Kind: LinkedPull, Confidence: High, Title: Title(p.Title), URL: p.URL,
		Reason: fmt.Sprintf("The %s of an open pull request mentions #%d.", where, ref.Number),
	}, true
}

// cites reports whether a text cites an issue: #1, owner/repo#1 or its address.
func cites(s string, ref triage.Ref) bool {
	s = strings.ToLower(s)
	full := strings.ToLower(ref.Owner + "/" + ref.Repo)
	for _, form := range []string{
		fmt.Sprintf("#%d", ref.Number), fmt.Sprintf("gh-%d", ref.Number),
		fmt.Sprintf("%s#%d", full, ref.Number), fmt.Sprintf("/%s/issues/%d", full, ref.Number),
	} {
		for from := 0; ; {
			at := strings.Index(s[from:], form)
			if at < 0 {
				break
			}
			at += from
			from = at + len(form)
			before := at == 0 || form[0] == '/' || !nameByte(s[at-1]) && s[at-1] != '/' && s[at-1] != '#' && s[at-1] != '&'
			after := from == len(s) || !nameByte(s[from])
			if before && after {
				return true
			}
		}
	}
	return false
}

// namesIssue reports whether a branch name contains "issue" followed by the number of an issue.
func namesIssue(branch string, number int) bool {
	words := strings.FieldsFunc(strings.ToLower(branch), func(r rune) bool { return strings.ContainsRune("-_/#.", r) })
	for i, w := range words {
		n := fmt.Sprint(number)
		if w == "issue"+n || w == "gh"+n || i > 0 && w == n && slices.Contains([]string{"issue", "issues", "gh"}, words[i-1]) {
			return true
		}
	}
	return false
}

// nameByte reports whether a byte can be part of a name or a number.
func nameByte(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b == '_' || b == '-' || b >= 0x80
}

// The degrees of similarity of two titles.
const (
	sharedTerms = 3
	alike       = 0.5
	nearlySame  = 0.8
)

// similar compares the title of an issue with that of a pull request.
func similar(title string, p Pull) (Evidence, bool) {
	wanted, offered := Terms(title), Terms(p.Title)
	var shared []string
	for _, t := range offered {
		if slices.Contains(wanted, t) {
			shared = append(shared, t)
		}
	}
	union := len(wanted) + len(offered) - len(shared)
	if union == 0 {
		return Evidence{}, false
	}
	jaccard := float64(len(shared)) / float64(union)
	// A single shared term is weak evidence, even if the titles are short.
	const few, long = 2, 8
	if len(shared) < few && (jaccard < 1 || len(shared[0]) < long) || len(shared) < sharedTerms && jaccard < alike {
		return Evidence{}, false
	}
	confidence := Medium
	if jaccard >= nearlySame {
		confidence = High
	}
	const named = 8
	return Evidence{
		Kind: TitleSimilarity, Confidence: confidence, Title: Title(p.Title), URL: p.URL,
		Reason: fmt.Sprintf("Open PR title overlaps candidate terms: %s.", strings.Join(shared[:min(len(shared), named)], ", ")),
	}, true
}

// assigned returns evidence if the issue has an assignee, or if somebody claimed it in a comment
// in the last two weeks.
func assigned(f Facts) (Evidence, bool) {
	e := Evidence{Kind: Assignment, Confidence: Medium, URL: f.Issue.URL}
	if len(f.Issue.Assignees) > 0 {
		login := text.Plain(f.Issue.Assignees[0], loginLimit)
		e.Title, e.Reason = "Assigned to "+login, fmt.Sprintf("The issue is assigned to %s.", login)
		return e, true
	}
	const fresh = 14 * 24 * time.Hour
	for _, c := range slices.Backward(f.Comments) {
		if f.Now.Sub(c.CreatedAt) > fresh || !worksOn(clip(c.Body)) {
			continue
		}
		login := text.Plain(c.Author, loginLimit)
		e.Title, e.URL = "Comment by "+login, c.URL
		e.Reason = fmt.Sprintf("%s commented on %s that they are working on it.", login, c.CreatedAt.UTC().Format(time.DateOnly))
		return e, true
	}
	return e, false
}

const loginLimit = 60

// worksOn reports whether the author of a comment claims to work on the issue.
func worksOn(body string) bool {
	words := " " + strings.Join(words(unquoted(body)), " ") + " "
	for _, phrase := range []string{
		" working on this ", " working on it ", " i ll take this ", " i will take this ", " i ll work on ", " i will work on ",
		" i m on it ", " i am on it ", " taking this ", " take ", " i have started ",
	} {
		if phrase == " take " { // a command for bots, which must be the whole comment
			if strings.TrimSpace(words) == "take" {
				return true
			}
			continue
		}
		if strings.Contains(words, phrase) {
			return true
		}
	}
	return false
}

// unquoted removes the lines of a comment that quote another comment.
func unquoted(s string) string {
	var kept []string
	for line := range strings.Lines(s) {
		if !strings.HasPrefix(strings.TrimSpace(line), ">") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// clip shortens untrusted text, to limit the work on it.
func clip(s string) string {
	if len(s) > maxBody {
		return strings.ToValidUTF8(s[:maxBody], "")
	}
	return s
}

// Title makes a title fit for a document: one line without control characters, clipped.
func Title(title string) string {
	const limit = 300
	return text.Plain(strings.Join(strings.Fields(title), " "), limit)
}
