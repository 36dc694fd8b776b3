package policy

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/triage"
)

// MaxCommentLength is the longest comment, in characters, that GitHub accepts, less the length
// of our marker.
const MaxCommentLength = 65_536 - 512

// RateLimits is how often we may act on one issue, with the defaults of a policy filled in.
type RateLimits struct {
	Interval time.Duration // between two commented events; 0: none
	Comments int           // most of ours on the issue; 0: any number
	Writes   int           // most changes of ours within an hour; 0: any number
}

// RateLimits returns the limits that depend on earlier comments and writes.
func (p Policy) RateLimits() RateLimits {
	return RateLimits{
		Interval: orDefault(p.CommentInterval, DefaultCommentInterval),
		Comments: orDefault(p.MaxComments, DefaultMaxComments),
		Writes:   orDefault(p.MaxWrites, DefaultMaxWrites),
	}
}

// Clean returns the body of a comment with everything in it neutralized that its source is
// not trusted with. The author of a rule is trusted with mentions and links: the values in
// its text were neutralized when it was rendered.
func (p Policy) Clean(body string, from triage.Source) string {
	if from.Rule != "" {
		return sanitize.Trusted(body)
	}
	o := sanitize.Options{}
	if from.Command != "" {
		return sanitize.Comment(body, o)
	}
	if len(p.Mentions) > 0 {
		o.AllowMention = func(login string) bool { _, ok := Match(p.Mentions, login); return ok }
	}
	if p.Links != nil {
		o.AllowLink = func(host string) bool { return matchHost(p.Links, host) }
	}
	return sanitize.Comment(body, o)
}

// matchHost reports whether one of the globs matches a host in the form of
// [sanitize.Host].
func matchHost(globs []string, host string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		ok, err := path.Match(hostGlob(g), host)
		return err == nil && ok
	})
}

// hostGlob returns a glob of hosts with each label in the form of [sanitize.Host]. A label
// with letters beyond ASCII and a wildcard has no such form, and matches nothing.
func hostGlob(glob string) string {
	labels := strings.Split(glob, ".")
	for i, l := range labels {
		if strings.IndexFunc(l, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
			labels[i] = strings.ToLower(l)
			continue
		}
		// No host holds a NUL.
		labels[i] = cmp.Or(sanitize.Host(l), "\x00"+l)
	}
	return strings.Join(labels, ".")
}

// MaxLength returns the most characters of a comment.
func (p Policy) MaxLength() int {
	if p.CommentLength <= 0 {
		return MaxCommentLength
	}
	return min(p.CommentLength, MaxCommentLength)
}
