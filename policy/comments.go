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

// MaxCommentLength is the maximum length of a comment, in characters: GitHub's limit of 65,536,
// less 512 for our marker.
const MaxCommentLength = 65_536 - 512

// RateLimits limit how often we may act on one issue. The defaults of the policy are filled in.
type RateLimits struct {
	Interval time.Duration // the minimum time between two commented events; 0: no limit
	Comments int           // the maximum number of our comments on the issue; 0: no limit
	Writes   int           // the maximum number of our changes within an hour; 0: no limit
}

// RateLimits returns the limits that depend on earlier comments and writes.
func (p Policy) RateLimits() RateLimits {
	return RateLimits{
		Interval: orDefault(p.CommentInterval, defaultCommentInterval),
		Comments: orDefault(p.MaxComments, defaultMaxComments),
		Writes:   orDefault(p.MaxWrites, defaultMaxWrites),
	}
}

// Clean returns the body of a comment with its untrusted parts neutralized. Mentions and links in
// the text of a rule are trusted, because the values in that text were neutralized when the rule
// was rendered.
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

// hostGlob returns a glob for hosts, with each label in the form of [sanitize.Host]. A label that
// has both letters beyond ASCII and a wildcard cannot be converted, so the result matches no host.
func hostGlob(glob string) string {
	labels := strings.Split(glob, ".")
	for i, l := range labels {
		if strings.IndexFunc(l, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
			labels[i] = strings.ToLower(l)
			continue
		}
		// No host name contains a NUL, so this label matches none.
		labels[i] = cmp.Or(sanitize.Host(l), "\x00"+l)
	}
	return strings.Join(labels, ".")
}

// MaxLength returns the maximum length of a comment, in characters.
func (p Policy) MaxLength() int {
	if p.CommentLength <= 0 {
		return MaxCommentLength
	}
	return min(p.CommentLength, MaxCommentLength)
}
