// Package pr prepares and opens the draft pull request of a contribution.
//
// The dry run judges the contribution, and lists every command that would publish it. After a
// person has approved this list, exactly these commands are run. An approval is valid for one
// digest. The digest covers the patch, the title, the body, the base, the accepted warnings and
// the commands.
package pr

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/gh"
	"github.com/org/foreman-action/internal/coding/contrib/patch"
	"github.com/org/foreman-action/internal/coding/contrib/publish"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/coding/contrib/snapshot"
	"github.com/org/foreman-action/internal/coding/contrib/state"
	"github.com/org/foreman-action/internal/coding/contrib/workspace"
	"github.com/org/foreman-action/internal/handoff"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// Options are the flags of "pr". All but Yes belong to the dry run.
type Options struct {
	Yes             bool
	Title           string // empty: "Address owner/repo#1"
	BodyFile        string // path of a text that is added to the body; empty: none
	Base            string // empty: the branch that the workspace was made from
	Accept          []string
	InspectorResult string // path of the Inspector's result; empty: none
}

// The limits of the texts that the contributor supplies.
const (
	maxTitle  = 256
	maxExtra  = 64 << 10
	maxResult = 1 << 20
)

var branchName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)

// Check returns an error for an invalid option.
func (o Options) Check() error {
	if o.Yes && (o.Title != "" || o.BodyFile != "" || o.Base != "" || len(o.Accept) > 0 || o.InspectorResult != "") {
		return contract.Fail(contract.CodeUsage, "--yes runs the commands of the dry run: pass --title, --body-file, --base, --accept and --inspector-result to the dry run")
	}
	for _, name := range o.Accept {
		if !slices.Contains(acceptable, name) {
			return contract.Fail(contract.CodeUsage, "--accept %s: want one of %s; no other check can be accepted", text.Quote(name), strings.Join(acceptable, ", "))
		}
	}
	if o.Title != "" && strings.TrimSpace(o.Title) == "" || strings.ContainsAny(o.Title, "\r\n\x00") || !utf8.ValidString(o.Title) || len([]rune(o.Title)) > maxTitle {
		return contract.Fail(contract.CodeUsage, "--title: want one line of at most %d characters", maxTitle)
	}
	if o.Base != "" && (!branchName.MatchString(o.Base) || strings.Contains(o.Base, "..") || strings.HasSuffix(o.Base, ".lock")) {
		return contract.Fail(contract.CodeUsage, "--base %s: want the name of a branch", text.Quote(o.Base))
	}
	return nil
}

// A contribution is the state of one run of the command.
type contribution struct {
	session   session.Session
	issue     triage.Ref
	files     controller.Files
	workspace *workspace.Workspace
	review    review
	record    *contract.PullRequest // of an earlier call; nil: there is none
	gh        gh.CLI
}

// Run makes a dry run or, with Yes, publishes an approved one.
func Run(ctx context.Context, s session.Session, o Options) (contract.PullRequest, error) {
	c, err := open(ctx, s)
	if err != nil {
		return contract.PullRequest{}, err
	}
	if c.record != nil && c.record.Status == contract.Created {
		return *c.record, nil
	}
	if o.Yes {
		return c.publish(ctx)
	}
	return c.dryRun(ctx, o)
}

// open reads everything that the gate judges.
func open(ctx context.Context, s session.Session) (*contribution, error) {
	c := &contribution{session: s, gh: gh.CLI{Dir: s.Controller.Root, Environ: s.Environ, Host: session.HostOf(s.Server())}}
	c.review.invalid = map[string]string{}
	var err error
	if c.issue, c.files, err = s.Active(); err != nil {
		return nil, err
	}
	var record contract.PullRequest
	if found, err := c.read(c.files.PullRequest, checkDryRun, &record); err != nil {
		return nil, err
	} else if found {
		c.record = &record
	}
	if c.record != nil && c.record.Status == contract.Created {
		return c, nil
	}
	if c.workspace, err = workspace.Open(s, c.issue, c.files); err != nil {
		return nil, err
	}
	now, err := c.look(ctx)
	if err != nil {
		return nil, err
	}
	c.review.config, c.review.digest = s.Config, now.PatchDigest
	if c.review.submodules, _, err = c.workspace.Submodules(ctx); err != nil {
		return nil, err
	}
	var artifact contract.Patch
	if found, err := c.read(c.files.Patch, checkPatch, &artifact); err != nil {
		return nil, err
	} else if found {
		// The gate judges the current change; only the digest of the patch artifact is used.
		now.PatchDigest = artifact.PatchDigest
		c.review.patch = &now
	}
	var validation contract.Validation
	if found, err := c.read(c.files.Validation, checkValidation, &validation); err != nil {
		return nil, err
	} else if found {
		c.review.validation = &validation
	}
	return c, nil
}

// read reads a document. If it is not a valid document of contribflow, found is false, and the
// check that needs it reports the reason. The patch artifact needs no seal, because only its
// digest is used.
func (c *contribution) read(path, check string, into any) (found bool, err error) {
	read := c.session.Controller.ReadSealed
	if check == checkPatch {
		read = c.session.Controller.Read
	}
	found, err = read(path, into)
	if p, ok := controller.Invalid(err); ok {
		c.review.invalid[check] = p.Error() + "."
		return false, nil
	}
	return found, err
}

// look returns a description of the current change in the workspace.
func (c *contribution) look(ctx context.Context) (contract.Patch, error) {
	taken, err := snapshot.Take(ctx, c.workspace.Clone, c.workspace.Record.BaseSHA)
	if err != nil {
		return contract.Patch{}, err
	}
	defer taken.Close()
	now, _, err := patch.Make(ctx, taken, c.session.Config.SensitivePaths)
	return now, err
}

// dryRun judges the contribution and records the commands that would publish it. It only writes
// to the controller's folder.
func (c *contribution) dryRun(ctx context.Context, o Options) (contract.PullRequest, error) {
	accepted := slices.Clone(o.Accept)
	if c.review.validationStatus() != contract.Missing {
		accepted = append(accepted, c.review.validation.Accepted...)
	}
	c.review.accepted = slices.Compact(slices.Sorted(slices.Values(accepted)))
	inspector, err := c.readInspector(o.InspectorResult)
	if err != nil {
		return contract.PullRequest{}, err
	}
	request, err := c.request(ctx, o)
	if err != nil {
		return contract.PullRequest{}, err
	}
	request.inspector = inspector
	if c.review.refused == "" {
		c.review.commands = request.Commands()
	}
	c.review.body = request.body
	v := c.review.judge()
	out := c.document(request, v)
	out.Digest = digest(out, request.body)
	if err := c.session.Controller.WriteFile(c.files.Body, []byte(request.body)); err != nil {
		return contract.PullRequest{}, err
	}
	return out, c.session.Controller.WriteSealed(c.files.PullRequest, out)
}

// document returns the document of a dry run.
func (c *contribution) document(r request, v verdict) contract.PullRequest {
	out := contract.PullRequest{
		Status: contract.DryRun, Draft: true, RequiresHumanApproval: true,
		Issue: c.issue.String(), Target: c.issue.Owner + "/" + c.issue.Repo, Branch: r.Branch, Title: r.Title,
		BodyPreview: r.body, ChangedFiles: c.review.files(), ValidationStatus: c.review.validationStatus(),
		WouldRun: publish.Lines(c.review.commands), AIDisclosure: disclosed(r.body), ReviewGate: v.gate,
		Reason: "Draft PR dry-run passed the review gate. Stop for human review before public GitHub writes.",
		Next:   contract.Run(contract.ActionHumanReview, state.CommandCreate),
		Base:   r.Base, ForkOwner: r.Fork.Owner, ForkName: r.Fork.Name, PatchDigest: c.review.digest, Accepted: c.review.accepted, Inspector: r.inspector,
		CreatedAt: contract.Time(c.session.Now()),
	}
	if c.record != nil {
		out.Commit = c.record.Commit
	}
	if c.review.patch != nil {
		out.Warnings = slices.Clone(c.review.patch.Warnings)
	}
	out.Warnings = append(out.Warnings, r.warnings...)
	if !v.passed() {
		out.Status, out.BlocksPR = contract.Blocked, true
		out.Reason = "The review gate has a check that failed: " + v.failure()
		out.Next = v.next
	}
	return out
}

// digest returns the SHA-256, in hexadecimal, of everything that an approval covers.
func digest(d contract.PullRequest, body string) string {
	data, err := json.Marshal([]any{d.Issue, d.Target, d.Branch, d.Base, d.Title, body, d.Draft, d.PatchDigest, strings.Join(d.Accepted, ","), d.Inspector, strings.Join(d.WouldRun, "\n")})
	if err != nil {
		panic(err) // it cannot fail, because all values are texts or booleans
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// A request is the data of the pull request, with the body and the Inspector's result.
type request struct {
	publish.Request
	body      string
	inspector string // SHA-256 of the Inspector's result; empty: none
	warnings  []string
}

// request returns the data of the pull request.
func (c *contribution) request(ctx context.Context, o Options) (request, error) {
	r := request{Request: publish.Request{
		Issue: c.issue, Server: c.session.Server(), Branch: c.workspace.Record.Branch, Base: c.workspace.Record.BaseBranch,
		Title: "Address " + c.issue.String(), BodyFile: c.files.Body, SignOff: c.session.Config.SignOff,
	}}
	if o.Title != "" {
		r.Title = secret.RedactForms(o.Title)
	}
	if o.Base != "" {
		r.Base = o.Base
	}
	if err := c.fork(ctx, &r); err != nil {
		return request{}, err
	}
	d := draft{
		number: c.issue.Number, files: c.review.files(), accepted: c.review.accepted, disclose: c.session.Config.AIDisclosure,
	}
	if c.review.validationStatus() != contract.Missing {
		d.validation = c.review.validation
	}
	if o.BodyFile != "" {
		data, err := c.session.ReadInput(o.BodyFile, maxExtra)
		if err != nil {
			return request{}, contract.Fail(contract.CodeUsage, "--body-file: %w", err)
		}
		d.extra = string(data)
	}
	var warning string
	if d.template, warning = template(c.workspace.Clone.Dir); warning != "" {
		r.warnings = append(r.warnings, warning)
	}
	r.body = d.write()
	return r, nil
}

// readInspector reads and stores the Inspector's result. It returns the digest of the file.
func (c *contribution) readInspector(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	data, err := c.session.ReadInput(name, maxResult)
	if err != nil {
		return "", contract.Fail(contract.CodeUsage, "--inspector-result: %w", err)
	}
	if c.review.inspector, err = parseInspection(data); err != nil {
		return "", contract.Fail(contract.CodeUsage, "--inspector-result %s: %w", name, err)
	}
	if err := c.session.Controller.WriteFile(c.files.Inspector, data); err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// storedInspector reads the Inspector's result that the dry run stored, if it has the digest want.
func (c *contribution) storedInspector(want string) error {
	if want == "" {
		return nil
	}
	data, err := c.session.Controller.ReadFile(c.files.Inspector)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("read %s: %w", c.files.Inspector, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != want {
		return nil // the check then fails because there is no result
	}
	if c.review.inspector, err = parseInspection(data); err != nil {
		return fmt.Errorf("read %s: %w", c.files.Inspector, err)
	}
	return nil
}

// An inspection is the Inspector's result.
type inspection struct {
	handoff.InspectorResult
	patchDigest string // digest of the inspected patch; empty: the result contains none
}

// parseInspection parses an Inspector's result. The published format has no key patch_digest, but
// allows additional keys. So a patch_digest that is not a text is ignored.
func parseInspection(data []byte) (*inspection, error) {
	result, err := handoff.ParseInspector(data)
	if err != nil {
		return nil, err
	}
	out := inspection{InspectorResult: result}
	var keys map[string]any // a struct would ignore the case of keys
	if err := json.Unmarshal(data, &keys); err == nil {
		out.patchDigest, _ = keys["patch_digest"].(string)
	}
	return &out, nil
}
