package records

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
)

// A Ref names a record.
type Ref struct {
	Repo  string // "owner/name"
	Issue int    // or memory.Repository
}

// String returns the name, such as "octo-org/hello#42".
func (r Ref) String() string { return fmt.Sprintf("%s#%d", r.Repo, r.Issue) }

// ParseRef parses the arguments that name a record: N, OWNER/REPO#N or OWNER/REPO N. The record N is in the
// default repository, which may be empty.
func ParseRef(args []string, repo string) (Ref, error) {
	var number string
	switch len(args) {
	case 1:
		number = args[0]
		if name, n, ok := strings.Cut(number, "#"); ok && name != "" {
			repo, number = name, n
		}
	case 2:
		repo, number = args[0], args[1]
	default:
		return Ref{}, command.Usagef("name one record: N, OWNER/REPO#N or OWNER/REPO N; 0 is the record of the repository")
	}
	number = strings.TrimPrefix(number, "#")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || strings.Trim(number, "0123456789") != "" {
		return Ref{}, command.Usagef("want the number of an issue, or 0 for the record of the repository, got %q", text.Quote(number))
	}
	if err := CheckRepo(repo); err != nil {
		return Ref{}, err
	}
	return Ref{repo, n}, nil
}

// CheckRepo returns a mistake in the name of a repository.
func CheckRepo(repo string) error {
	if _, err := memory.Key(repo, memory.Repository); repo != "" && err != nil {
		return command.Usagef("name the repository: OWNER/REPO, got %q", text.Quote(repo))
	}
	if _, _, ok := protocol.SplitRepo(repo); !ok {
		return command.Usagef("name the repository: OWNER/REPO")
	}
	return nil
}

// A ShowFormat is how a record is printed: json or text. [ShowFormat.Flags] sets it.
type ShowFormat struct{ name string }

// Flags adds the flag --format, and --json as everywhere.
func (f *ShowFormat) Flags(c *cobra.Command) {
	c.Flags().StringVar(&f.name, "format", "json", "`FORMAT` of the record: json or text")
	group.Values(c, "format", "json", "text")
	group.JSONFlag(c, "print the record as JSON, like --format json")
}

// Check returns a mistake in the format.
func (f *ShowFormat) Check() error {
	if f.name != "json" && f.name != "text" {
		return command.Usagef("--format: want json or text, got %q", f.name)
	}
	return nil
}

// Show prints a record: its stable JSON, or a few lines for people.
func Show(ctx context.Context, env process.Env, m Memory, ref Ref, f ShowFormat) error {
	r, err := m.Store.Load(ctx, ref.Repo, ref.Issue)
	switch {
	case errors.Is(err, memory.ErrNotFound):
		return command.Failed(fmt.Errorf("there is no record of %s in the memory (%s)", ref, m.Kind))
	case err != nil:
		return command.Failed(fmt.Errorf("show the record of %s: %w", ref, err))
	case f.name == "text":
		return env.Print(textOf(r, m.Kind))
	}
	data, err := memory.Encode(r)
	if err != nil {
		return command.Failed(err)
	}
	return env.Print(format.JSON(json.RawMessage(data), "  ") + "\n")
}

// textOf returns a record as text.
func textOf(r memory.Record, kind string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s#%d: revision %d (memory: %s)\n", sanitize.Line(r.Repo), r.Issue, r.Revision, kind)
	if facts, ok := memory.Summary(r); ok && r.Issue != memory.Repository {
		b.WriteString(sanitize.Line(facts) + "\n")
	}
	for _, p := range r.Pending() {
		fmt.Fprintf(&b, "proposal %d waits for an answer until %s: %s\n", p.Number, day(p.Expires), sanitize.Line(p.Action.Type))
	}
	for _, c := range r.Closings {
		fmt.Fprintf(&b, "a close is scheduled for %s\n", day(c.Due))
	}
	if o := r.Outcomes; o != nil {
		fmt.Fprintf(&b, "%s, judged up to %s: foreman report shows them\n", format.Count(len(o.Pairs), "track record"), day(o.Judged))
	}
	if s := r.Scores; s != nil {
		fmt.Fprintf(&b, "scores of shadow mode by an earlier version: %s\n", format.Count(len(s.Rules), "rule"))
	}
	if n := len(r.Cursors); n > 0 {
		fmt.Fprintf(&b, "%s did not reach the end\n", format.Count(n, "scan"))
	}
	return b.String()
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Removed is the output of memory rm --json.
type Removed struct {
	Version int      `json:"version"` // of this form
	Repo    string   `json:"repo"`
	Issue   int      `json:"issue"`
	Memory  string   `json:"memory"`
	Deleted []string `json:"deleted"` // never nil
	Error   string   `json:"error,omitempty"`
}

// RemoveRepository is the help about deleting the record of a repository.
const RemoveRepository = `N = 0 deletes the record of the repository. This withdraws no permission for good: the
next passes judge the recorded actions of the issues again, and usually restore the
permissions. To withdraw one, list it in policy.earn.distrust, or set a day in
policy.earn.reset, from which its outcomes count.`

// Remove deletes a record, and prints what it deleted. If it fails halfway, it prints what was deleted until then.
func Remove(ctx context.Context, env process.Env, m Memory, ref Ref, asJSON bool) error {
	deleted, err := m.Store.DeleteRecord(ctx, ref.Repo, ref.Issue)
	if err != nil {
		err = command.Failed(fmt.Errorf("delete the record of %s: %w", ref, err))
	}
	if asJSON {
		out := Removed{Version: 1, Repo: ref.Repo, Issue: ref.Issue, Memory: m.Kind, Deleted: append([]string{}, deleted...)}
		if err != nil {
			out.Error = err.Error()
		}
		if perr := env.Print(format.JSON(out, "  ") + "\n"); perr != nil {
			return perr
		}
		if err != nil {
			return command.Reported(command.ExitFailed)
		}
		return nil
	}
	var b strings.Builder
	for _, name := range deleted {
		b.WriteString("deleted " + sanitize.Line(name) + "\n")
	}
	if err == nil && len(deleted) == 0 {
		fmt.Fprintf(&b, "there is no record of %s in the memory (%s)\n", ref, m.Kind)
	}
	return errors.Join(env.Print(b.String()), err)
}
