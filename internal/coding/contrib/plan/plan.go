// Package plan makes a plan for one issue from data that GitHub returns about its repository. It
// uses no model. The person or agent that edits the workspace refines the plan.
package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/ecosystem"
	"github.com/org/foreman-action/internal/coding/contrib/hub"
	"github.com/org/foreman-action/internal/coding/contrib/score"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/scoring"
	"github.com/org/foreman-action/internal/scoring/evidence"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// Options are the flags of the command.
type Options struct{ Issue triage.Ref }

// Run plans a contribution, and makes its issue the active one. It returns a [contract.Plan],
// which it also stores in the controller's folder, or a [contract.BlockedLookup].
func Run(ctx context.Context, s session.Session, o Options) (contract.Document, error) {
	h, err := hub.Open(ctx, s)
	if err != nil {
		return nil, err
	}
	d, err := read(ctx, s, h, o.Issue)
	if blocked, ok := errors.AsType[*hub.BlockedError](err); ok {
		return blocked.Document(o.Issue.String()), nil
	}
	if err != nil {
		return nil, err
	}
	files, err := s.Files(o.Issue)
	if err != nil {
		return nil, err
	}
	if err := s.Controller.Write(files.Plan, d); err != nil {
		return nil, err
	}
	return d, s.Controller.Activate(o.Issue.String(), s.Now())
}

// read reads the issue and its repository, and makes the plan.
func read(ctx context.Context, s session.Session, h *hub.Hub, ref triage.Ref) (contract.Plan, error) {
	const scope = contract.ScopePlan
	a, err := score.Appraise(ctx, s, h, score.Look{Issue: ref, Scope: scope, Duplicates: true})
	if err != nil {
		return contract.Plan{}, err
	}
	if a.Issue.Locked {
		return contract.Plan{}, contract.Fail(contract.CodeIssueClosed, "%s is locked", ref).
			With(contract.Run(contract.ActionDiscover, "contribflow discover --json"))
	}
	tree := ecosystem.Tree{Read: func(name string, limit int64) ([]byte, error) {
		data, err := h.File(ctx, scope, ref, name)
		if errors.Is(err, triage.ErrNotFound) || err == nil && int64(len(data)) > limit {
			return nil, fmt.Errorf("%w: GitHub does not show it", ecosystem.ErrUnreadable)
		}
		return data, err
	}}
	for _, f := range a.Files {
		tree.Files = append(tree.Files, f.Name)
	}
	found, err := ecosystem.Detect(tree, ecosystem.Options{})
	if err != nil {
		return contract.Plan{}, err
	}
	var rules policy
	for _, name := range found.Context.GuidanceFiles {
		data, err := h.File(ctx, scope, ref, name)
		if err != nil && !errors.Is(err, triage.ErrNotFound) {
			return contract.Plan{}, err
		}
		rules.read(string(data))
		rules.SignOff = rules.SignOff || name == "DCO"
	}
	a.Warnings = append(a.Warnings, found.Warnings...)
	return document(a, found, rules), nil
}

// document makes the plan from its arguments alone.
func document(a score.Appraisal, found ecosystem.Detection, rules policy) contract.Plan {
	issue := a.Ref.String()
	r := a.Result
	d := contract.Plan{
		Issue: issue, IssueURL: a.Issue.URL, Title: evidence.Title(a.Issue.Title), Summary: summary(a.Issue),
		LikelyFiles: likely(a.Issue, a.Files, found.Context.TestLayouts), RepositoryContext: found.Context, ValidationCommands: found.Lines(),
		PRTitleGuidance: []string{"Use a concise title that names the focused change."},
		PRBodyGuidance: []string{
			"Reference the issue, summarize the smallest change, list validation evidence, and include AI assistance disclosure.",
		},
		StopConditions: []string{
			"Stop before public GitHub writes unless the user explicitly approves.",
			"Stop if the patch grows beyond the configured file or line-change limits.",
			"Stop if repository guidance conflicts with the planned change.",
		},
		RiskLevel: r.Risk, RiskAssessment: assessment(r), Score: r.Score, ScoreBand: r.Band, Recommendation: r.Band,
		Assumptions: []string{}, Questions: []string{}, RequiresHumanApproval: r.Risk == evidence.High,
		Next: contract.Run(contract.ActionCheckout, "contribflow checkout "+issue+" --json"), Warnings: a.Warnings,
	}
	d.ProposedFix = fix(d)
	for _, line := range d.ValidationCommands {
		d.TestPlan = append(d.TestPlan, "Run `"+line+"` in the sandbox if it is relevant to the change.")
	}
	d.TestPlan = append(d.TestPlan, "Run repository documentation, lint, or formatting checks if available.", "Manually verify changed links, examples, and commands.")
	if a.Repo.DefaultBranch != "" {
		const limit = 100
		d.Assumptions = append(d.Assumptions, fmt.Sprintf("The change is based on the default branch %s.", text.Plain(a.Repo.DefaultBranch, limit)))
	}
	if rules.SignOff {
		d.Assumptions = append(d.Assumptions, `The repository asks for a sign-off (DCO). A person who gives it sets "signOff" to true in `+controller.ConfigPath+".")
	}
	if a.Repo.NoPulls != "" {
		d.RequiresHumanApproval = true
		d.StopConditions = append(d.StopConditions, "Stop: "+a.Repo.NoPulls)
	}
	if rules.Disclosure != "" {
		d.PRBodyGuidance = append(d.PRBodyGuidance, "The repository asks to disclose AI assistance: "+rules.Disclosure)
	}
	if rules.ProhibitsAI != "" {
		d.RequiresHumanApproval = true
		d.StopConditions = append(d.StopConditions, "Stop: the repository's guidance seems to prohibit contributions made with AI: "+rules.ProhibitsAI)
		d.Questions = append(d.Questions, "Does the repository accept a contribution made with the help of AI? A person has to ask, or to leave the issue.")
	}
	if r.Flags.DuplicatePRRisk != evidence.Low {
		d.Questions = append(d.Questions, "Is somebody already working on the issue? Look at the evidence with: contribflow score "+issue)
	}
	if r.Flags.SecuritySensitive {
		d.StopConditions = append(d.StopConditions, "Stop: the issue may be about a vulnerability. Report and fix it by the repository's private disclosure.")
	}
	if len(d.LikelyFiles) == 0 {
		d.Questions = append(d.Questions, "Which files does the change touch? The issue names none.")
	}
	return d
}

// summary returns the first paragraph of the issue's body, or its title if there is none.
func summary(i triage.Issue) string {
	const limit = 280
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(evidence.Visible(i.Body), "\r\n", "\n"), "\n\n") {
		var lines []string
		for line := range strings.Lines(paragraph) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "```") || strings.Trim(line, "-=_*") == "" || line == "_No response_" {
				continue
			}
			lines = append(lines, line)
		}
		if s := strings.TrimSpace(text.Plain(strings.Join(strings.Fields(strings.Join(lines, " ")), " "), 2*limit)); s != "" {
			return text.Shorten(s, limit)
		}
	}
	return text.Shorten(evidence.Title(i.Title), limit)
}

// likely returns files that the change may touch: files that the issue names, or whose names
// contain terms of its title. If there are none, it returns files that fit the kind of the issue.
func likely(i triage.Issue, tree []evidence.Path, layouts []string) []string {
	const most, limit = 8, 300
	list := []string{}
	add := func(names ...string) {
		for _, n := range names {
			n = text.Plain(n, limit)
			if len(list) < most && !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
	}
	add(evidence.NamedPaths(i.Title+"\n"+i.Body, tree)...)
	add(evidence.Matching(i.Title, tree)...)
	if len(list) > 0 {
		return list
	}
	has := func(prefix string) bool {
		return slices.ContainsFunc(tree, func(p evidence.Path) bool { return strings.HasPrefix(p.Name, prefix) })
	}
	switch scoring.Kind(i) {
	case "docs", "examples":
		if has("README.md") {
			add("README.md")
		}
		if has("docs/") {
			add("docs/**/*.md")
		}
	case "tests":
		for _, l := range layouts {
			if !strings.Contains(l, "*") {
				l += "/**"
			}
			add(l)
		}
	case "ci":
		if has(".github/workflows/") {
			add(".github/workflows/*")
		}
	}
	return list
}

// fix returns the sentence of the plan about the size of the change.
func fix(d contract.Plan) string {
	const limit = 120
	title := text.Shorten(cmp.Or(d.Title, d.Issue), limit)
	if len(d.LikelyFiles) == 0 {
		return fmt.Sprintf("Find the smallest change that resolves %q, and change nothing else.", title)
	}
	const few = 3
	return fmt.Sprintf("Make the smallest change that resolves %q, starting with %s.", title, strings.Join(d.LikelyFiles[:min(few, len(d.LikelyFiles))], ", "))
}

// assessment returns an explanation of the risk level.
func assessment(r scoring.Result) string {
	switch {
	case r.Flags.SecuritySensitive:
		return "High risk: the issue may be about a vulnerability, which belongs in private disclosure."
	case r.Flags.DuplicatePRRisk == evidence.High:
		return "High risk: somebody works on the issue already, or it may be solved."
	case r.Risk == evidence.High:
		return "High risk: the score is low; a person should look at the issue before checkout."
	case r.Risk == evidence.Low:
		return "Low risk: the issue is clear, recent and small."
	}
	return "Medium risk: candidate may be viable, but scope should be checked before checkout."
}
