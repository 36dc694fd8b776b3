package scoring

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/scoring/evidence"
	"github.com/org/foreman-action/internal/text"
)

// An env is the environment of conditions. It contains numbers, short texts and booleans, but no
// long untrusted text. Together with the lack of loops, this limits the cost of a condition.
type env struct {
	Issue     envIssue     `expr:"issue"`
	Repo      envRepo      `expr:"repo"`
	Profile   envProfile   `expr:"profile"`
	Duplicate envDuplicate `expr:"duplicate"`
	// Label reports whether the issue has one of some labels.
	Label func(names ...string) bool `expr:"label"`
}

type envIssue struct {
	TitleLength int    `expr:"title_length"` // characters
	BodyLength  int    `expr:"body_length"`  // characters, without comments in HTML
	Steps       bool   `expr:"steps"`        // a numbered list, a task list or a block of code
	NamesFile   bool   `expr:"names_file"`   // a file of the repository
	Kind        string `expr:"kind"`         // such as "docs" or "bug"; empty: unknown
	IdleDays    int    `expr:"idle_days"`    // since the last update
	AgeDays     int    `expr:"age_days"`     // since it was opened
	Comments    int    `expr:"comments"`
	Effort      int    `expr:"effort_hours"`
	Security    bool   `expr:"security_sensitive"`
}

type envRepo struct {
	Known        bool   `expr:"known"` // false: not read, so the other fields are empty
	Language     string `expr:"language"`
	Stars        int    `expr:"stars"`
	IdleDays     int    `expr:"idle_days"` // since the last push
	OpenPulls    int    `expr:"open_pulls"`
	Archived     bool   `expr:"archived"`
	Disabled     bool   `expr:"disabled"`
	License      bool   `expr:"license"`
	Contributing bool   `expr:"contributing"` // has a contributor guide; set only by "score" and "plan"
	Tests        bool   `expr:"tests"`        // has tests or continuous integration; set only by "score" and "plan"
}

type envProfile struct {
	LanguageFits    bool `expr:"language_fits"`
	LanguageDiffers bool `expr:"language_differs"` // the profile names other languages
	TopicFits       bool `expr:"topic_fits"`
	TypeFits        bool `expr:"type_fits"`
}

type envDuplicate struct {
	Risk  string `expr:"risk"`  // "low", "medium" or "high"
	Known bool   `expr:"known"` // false: open pull requests could not be read
}

// steps find a numbered list, a task list or a block of code.
var steps = text.Regexp("(?m)^[ \t]*(?:\\d+[.)] \\S|[-*+] \\[[ xX]\\] |```|~~~)")

func newEnv(f Facts, flags RiskFlags) env {
	i, r := f.Issue, f.Repo
	body := evidence.Visible(i.Body)
	words := i.Title + "\n" + body
	language := fits(f.Profile.Languages, func(l string) bool { return text.Fold(l) == text.Fold(r.Language) })
	return env{
		Issue: envIssue{
			TitleLength: utf8.RuneCountInString(strings.TrimSpace(i.Title)), BodyLength: utf8.RuneCountInString(body),
			Steps: steps().MatchString(body), NamesFile: f.NamesFile, Kind: Kind(i),
			IdleDays: days(i.UpdatedAt, f.Now), AgeDays: days(i.CreatedAt, f.Now),
			Comments: i.Comments, Effort: effort(i), Security: flags.SecuritySensitive,
		},
		Repo: envRepo{
			Known: r.Known, Language: r.Language, Stars: r.Stars, IdleDays: days(r.PushedAt, f.Now), OpenPulls: r.OpenPulls,
			Archived: r.Archived, Disabled: r.Disabled, License: r.License, Contributing: r.Contributing, Tests: r.Tests,
		},
		Profile: envProfile{
			LanguageFits:    r.Language != "" && language,
			LanguageDiffers: r.Language != "" && len(f.Profile.Languages) > 0 && !language,
			TopicFits: fits(f.Profile.Topics, func(t string) bool {
				return evidence.HasPhrase(words, t) || slices.ContainsFunc(r.Topics, func(has string) bool { return text.Fold(has) == text.Fold(t) })
			}),
			TypeFits: fits(f.Profile.Types, func(t string) bool { return isOfType(i, t) }),
		},
		Duplicate: envDuplicate{Risk: string(flags.DuplicatePRRisk), Known: !f.Unread},
		Label:     func(names ...string) bool { return evidence.HasLabel(i.Labels, names...) },
	}
}
