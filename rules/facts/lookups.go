package facts

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/org/foreman-action/triage"
)

// A Part is the data that one look-up returns.
type Part string

// The parts.
const (
	PullPart         Part = "the pull request"
	FilesPart        Part = "the files of the pull request"
	MessagesPart     Part = "the commit messages of the pull request"
	ReviewsPart      Part = "the reviews of the pull request"
	OpenedPart       Part = "the author's earlier issues and pull requests"
	AccountPart      Part = "the author's account"
	MergedPullsPart  Part = "the author's merged pull requests"
	ClosedPullsPart  Part = "the author's closed pull requests"
	ContributionPart Part = "the score of contribflow"
	MemoryPart       Part = "the memory"
)

// A Known is a Lookup with fixed results. It is safe for concurrent use as long as it is not
// changed. Missing results are empty; an account without an entry has the permission "none". A
// missing result for which [LookupSpec.Unknown] has a reason is an [UnknownError].
type Known struct {
	Permissions map[string]string // by login, case-sensitive
	History     Timeline
	PullRequest triage.PullRequest
	Changed     []string // paths
	Commits     []string // messages
	Reviewed    Reviews
	Opened      Author
	Joined      time.Time // when the author's account was created
	Merged      int       // pull requests of the author
	Closed      int       // pull requests of the author, without those that were merged
	Scored      Contrib
	Before      Memory
}

// A LookupSpec describes a look-up. It is the only description: expressions, the reference, tests of
// rules, replays and the budget of calls read it.
type LookupSpec struct {
	Part Part
	// Root is the name before the dot, such as "author". The first look-up of a root is also the value
	// of the root alone.
	Root string
	// Fields are the names after the dot that the look-up returns.
	Fields []LookupField
	// Value returns a pointer to the data in k: a struct with the fields, or the value of the only
	// field.
	Value func(k *Known) any
	// Calls is the usual number of calls to GitHub. Look-ups that share a call may count it twice.
	Calls int
	// Pulls means that only pull requests have the data. It is empty for an issue, without a call.
	Pulls bool
	// Needs is the line of a workflow's permissions block that the calls need in addition to
	// "issues: read"; empty: none. Events on pull requests need it anyway, so that it is empty if
	// Pulls is true.
	Needs string
	// Unknown is the reason why a zero value is unknown; empty: the zero value is a value.
	Unknown string
	// NotReplayed is the reason why the data is unknown for events of the past; empty: it is empty
	// for an issue that was just opened.
	NotReplayed string
}

// A LookupField describes a name that is looked up.
type LookupField struct {
	Name    string // without the root
	Doc     string // what it is
	Example string // a condition that uses it
}

// Field returns the value of a field in k. It can be set.
func (s LookupSpec) Field(k *Known, name string) reflect.Value {
	v := reflect.ValueOf(s.Value(k)).Elem()
	if !fielded(v.Type()) {
		return v
	}
	for typ, field := range v.Fields() {
		if typ.Tag.Get("expr") == name {
			return field
		}
	}
	panic("facts: " + s.Root + "." + name + " has no field") // a mistake in the table
}

// Copy copies the data of the look-up.
func (s LookupSpec) Copy(from, to *Known) {
	reflect.ValueOf(s.Value(to)).Elem().Set(reflect.ValueOf(s.Value(from)).Elem())
}

// fielded reports whether a type is a struct with the fields of a look-up.
func fielded(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]()
}

// SpecOf returns the description of a part.
func SpecOf(p Part) LookupSpec {
	specs := LookupSpecs()
	return specs[slices.IndexFunc(specs, func(s LookupSpec) bool { return s.Part == p })]
}

// LookupSpecs returns the description of each look-up, in the order of the reference. The caller
// must not change it. The timeline and [Lookup.Permission] are not among them, because functions
// read them.
func LookupSpecs() []LookupSpec { return lookupSpecs() }

const needsPulls = "pull-requests: read"

var lookupSpecs = sync.OnceValue(func() []LookupSpec {
	return []LookupSpec{
		{
			Part: PullPart, Root: "pr", Value: func(k *Known) any { return &k.PullRequest }, Calls: 1, Pulls: true,
			Fields: []LookupField{
				{"head", "the branch of the pull request; for an issue it is empty, and the other pr fields are 0, false or empty", "pr.head matches `^(feature|feat)/`"},
				{"base", "the branch that it is to be merged into", `pr.base == "main"`},
				{"draft", "whether it is a draft", `not pr.draft`},
				{"merged", "whether it is merged", `event.action == "closed" and not pr.merged`},
				{"changed_files", "how many files it changes", `pr.changed_files < 300`},
				{"additions", "how many lines it adds", `pr.additions + pr.deletions < 10`},
				{"deletions", "how many lines it deletes", `pr.deletions > pr.additions`},
				{"commits", "how many commits it has", `pr.commits > 1`},
				{"requested_reviewers", "the logins of people whose review it waits for", `len(pr.requested_reviewers) == 0`},
				{"requested_teams", "the names of teams whose review it waits for, as in their web addresses", `"docs" in pr.requested_teams`},
			},
		},
		{
			Part: FilesPart, Root: "pr", Value: func(k *Known) any { return &k.Changed }, Calls: 1, Pulls: true,
			Fields: []LookupField{
				{"files", "the paths that it changes; a file that is moved counts with both its paths; looked up when needed, and fails for more than 3,000 files", `all(pr.files, matches_glob(#, "docs/**") or # endsWith ".md")`},
			},
		},
		{
			Part: MessagesPart, Root: "pr", Value: func(k *Known) any { return &k.Commits }, Calls: 1, Pulls: true,
			Fields: []LookupField{
				{"commit_messages", "the messages of its commits, the oldest first, each cut to 10,000 characters; looked up when needed, and fails for more than 250 commits", "any(pr.commit_messages, # matches `(?m)^BREAKING CHANGE: `)"},
			},
		},
		{
			Part: ReviewsPart, Root: "pr", Value: func(k *Known) any { return &k.Reviewed }, Calls: 1, Pulls: true,
			Fields: []LookupField{
				{"approved_by", "the logins of the owners, members and collaborators whose last review approves it; looked up when needed", `len(pr.approved_by) >= 2 and len(pr.changes_requested_by) == 0`},
				{"changes_requested_by", "the logins of the owners, members and collaborators whose last review requests changes; looked up when needed", `len(pr.changes_requested_by) > 0`},
			},
		},
		{
			Part: OpenedPart, Root: "author", Value: func(k *Known) any { return &k.Opened }, Calls: 1, Needs: needsPulls,
			NotReplayed: "it uses author.issues or author.pulls, and earlier issues of the author are not counted",
			Fields: []LookupField{
				{"issues", "how many issues the author of this one opened in the repository before it; looked up when needed. Issues and pull requests count up to 100 together", `author.issues == 0 and author.pulls == 0`},
				{"pulls", "how many pull requests the author of this one opened before it; looked up when needed", `author.pulls > 2`},
			},
		},
		{
			Part: AccountPart, Root: "author", Value: func(k *Known) any { return &k.Joined }, Calls: 1,
			Unknown:     "author.created_at is unknown, as for an App or a deleted account",
			NotReplayed: "it uses author.created_at, and accounts are not read",
			Fields: []LookupField{
				{"created_at", "when the author's account was created; looked up when needed. It is unknown for an App, and for an account that was deleted or renamed", `now - author.created_at < duration("7d")`},
			},
		},
		{
			Part: MergedPullsPart, Root: "author", Value: func(k *Known) any { return &k.Merged }, Calls: 2, Needs: needsPulls,
			NotReplayed: "it uses author.merged_pulls, and only the current number is known",
			Fields: []LookupField{
				{"merged_pulls", "how many other pull requests of the author were merged in the repository; looked up when needed. For an author with 100 issues and pull requests or more it is the number of GitHub's search, which may include this one and be some minutes old", `pr.merged and author.merged_pulls == 0`},
			},
		},
		{
			Part: ClosedPullsPart, Root: "author", Value: func(k *Known) any { return &k.Closed }, Calls: 2, Needs: needsPulls,
			NotReplayed: "it uses author.closed_pulls, and only the current number is known",
			Fields: []LookupField{
				{"closed_pulls", "how many other pull requests of the author were closed in the repository without a merge; looked up when needed, as author.merged_pulls", `author.closed_pulls > 3 and author.merged_pulls == 0`},
			},
		},
		{
			Part: ContributionPart, Root: "contrib", Value: func(k *Known) any { return &k.Scored }, Calls: 1, Needs: needsPulls,
			NotReplayed: "it uses contrib, and the pull requests that were open then are unknown",
			Fields: []LookupField{
				{"score", "how well the issue suits contributors, from 0 to 100: the score of contribflow, computed from the issue and from the titles and texts of open pull requests; looked up when needed. For a pull request it is 0", `contrib.score >= 70 and not label("help wanted")`},
				{"duplicate_evidence", `how strong the signs are that somebody already works on the issue: "low", "medium" or "high"`, `contrib.duplicate_evidence == "high"`},
				{"security_sensitive", "whether it may be about a vulnerability, which belongs in private disclosure", `contrib.security_sensitive`},
			},
		},
		{
			Part: MemoryPart, Root: "memory", Value: func(k *Known) any { return &k.Before }, Calls: 1,
			Fields: []LookupField{
				{"tasks", "how many earlier tasks of Foreman the issue has", `memory.tasks == 0`},
				{"comments", "how many comments it posted", `memory.comments < 3`},
				{"labels", "the labels that it added, also if they were removed since", `"needs-info" in memory.labels`},
				{"never", "labels that are never added again (never_again)", `not ("duplicate" in memory.never)`},
				{"closing", "whether a close is scheduled", `not memory.closing`},
			},
		},
	}
})

// Permission returns the entry of the login, or "none".
func (k Known) Permission(_ context.Context, login string) (string, error) {
	if p := k.Permissions[login]; p != "" {
		return p, nil
	}
	return "none", nil
}

// Timeline returns k.History.
func (k Known) Timeline(context.Context) (Timeline, error) { return k.History, nil }

// Earlier returns k.History.
func (k Known) Earlier(context.Context) (Timeline, error) { return k.History, nil }

// Read copies the part from k to out.
func (k Known) Read(_ context.Context, p Part, out *Known) error {
	spec := SpecOf(p)
	if spec.Unknown != "" && reflect.ValueOf(spec.Value(&k)).Elem().IsZero() {
		return &UnknownError{Reason: spec.Unknown}
	}
	spec.Copy(&k, out)
	return nil
}

// A Supplied is a Lookup for a try-out: it has the values that somebody supplied, and returns an
// [*UnsuppliedError] for all others. The zero value has none.
type Supplied struct {
	Known Known
	// Names are those of the values in Known: a field, such as "author.issues", a root with all of its
	// fields, such as "memory", or [TimelineName]. Each entry of Known.Permissions counts as supplied.
	Names []string
}

// Permission returns the entry of the login.
func (s Supplied) Permission(_ context.Context, login string) (string, error) {
	if p := s.Known.Permissions[login]; p != "" {
		return p, nil
	}
	return "", &UnsuppliedError{[]string{PermissionName}}
}

// Timeline returns the supplied timeline.
func (s Supplied) Timeline(context.Context) (Timeline, error) {
	if !slices.Contains(s.Names, TimelineName) {
		return Timeline{}, &UnsuppliedError{[]string{TimelineName}}
	}
	return s.Known.History, nil
}

// Earlier returns the supplied timeline.
func (s Supplied) Earlier(ctx context.Context) (Timeline, error) { return s.Timeline(ctx) }

// Read copies the supplied values of the part.
func (s Supplied) Read(ctx context.Context, p Part, out *Known) error {
	spec := SpecOf(p)
	var missing []string
	for _, f := range spec.Fields {
		if name := spec.Root + "." + f.Name; !slices.Contains(s.Names, name) && !slices.Contains(s.Names, spec.Root) {
			missing = append(missing, name)
		}
	}
	if len(missing) == len(spec.Fields) {
		return &UnsuppliedError{missing}
	}
	if err := s.Known.Read(ctx, p, out); err != nil || len(missing) == 0 {
		return err
	}
	return &UnsuppliedError{missing}
}
