package pr

import (
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/publish"
	"github.com/org/foreman-action/internal/handoff"
)

// ready is a review that passes every check.
func ready() review {
	config := controller.Default()
	body := draft{number: 1, disclose: true}.write()
	return review{
		config: config, digest: "d", body: body, commands: publish.Request{}.Commands(),
		patch:      &contract.Patch{PatchDigest: "d", HasChanges: true, ChangedFiles: []contract.ChangedFile{{Path: "a", Status: "M", Additions: 2}}},
		validation: &contract.Validation{Status: contract.Passed, PatchDigest: "d", Commands: []contract.CommandRun{{Sandbox: "docker", Status: contract.Passed}}},
		submodules: contract.Submodules{Status: contract.SubmodulesNone},
	}
}

// TestGate breaks each check in each way that it can fail.
func TestGate(t *testing.T) {
	t.Parallel()
	files := func(n, lines int) []contract.ChangedFile {
		list := make([]contract.ChangedFile, n)
		list[0].Additions, list[0].Deletions = lines/2, lines-lines/2
		return list
	}
	judged := func(digest string, status handoff.Verdict) *inspection {
		return &inspection{handoff.InspectorResult{Work: &handoff.InspectorWork{Status: status, NextTasks: []string{"restore the test"}}}, digest}
	}
	tests := []struct {
		name   string
		change func(*review)
		check  string // the only one that fails; empty: none
		next   string // the beginning of the recommended next step
	}{
		{"all pass", func(*review) {}, "", ""},
		{"no artifact", func(r *review) { r.patch = nil }, checkPatch, "contribflow diff"},
		{"stale artifact", func(r *review) { r.patch.PatchDigest = "e" }, checkPatch, "contribflow diff"},
		{"no changes", func(r *review) { r.patch.HasChanges = false }, checkPatch, "contribflow diff"},
		{"8 files", func(r *review) { r.patch.ChangedFiles = files(8, 300) }, "", ""},
		{"9 files", func(r *review) { r.patch.ChangedFiles = files(9, 1) }, checkSize, "Make the patch smaller"},
		{"301 lines", func(r *review) { r.patch.ChangedFiles = files(1, 301) }, checkSize, "Make the patch smaller"},
		{"301 lines, accepted", func(r *review) { r.patch.ChangedFiles, r.accepted = files(1, 301), []string{checkSize} }, "", ""},
		{"sensitive", func(r *review) { r.patch.RiskFlags.SensitiveFiles = []string{".env"} }, checkSensitive, "A person must review"},
		{"sensitive, accepted", func(r *review) {
			r.patch.RiskFlags.SensitiveFiles, r.accepted = []string{".env"}, []string{checkSensitive}
		}, "", ""},
		{"duplicate", func(r *review) { r.patch.RiskFlags.DuplicateContent = []contract.Duplicate{{Path: "a"}} }, checkDuplicate, "Remove the lines"},
		{"submodules missing", func(r *review) {
			command := "git -C w submodule update --init --recursive"
			r.submodules = contract.Submodules{Status: contract.SubmodulesMissing, Reason: "1 submodule", RecommendedCommand: &command}
		}, checkSubmodules, "git -C w submodule"},
		{"submodules ready", func(r *review) { r.submodules.Status = contract.SubmodulesReady }, "", ""},
		{"not validated", func(r *review) { r.validation = nil }, checkValidation, "contribflow validate --run"},
		{"stale validation", func(r *review) { r.validation.PatchDigest = "e" }, checkValidation, "contribflow validate --run"},
		{"validation failed", func(r *review) { r.validation.Status = contract.Failed }, checkValidation, "contribflow validate --run"},
		{"outside of the sandbox", func(r *review) { r.validation.Commands[0].Sandbox = "" }, checkValidation, "contribflow validate --run"},
		{"validation cannot be accepted", func(r *review) { r.validation, r.accepted = nil, []string{checkValidation} }, checkValidation, "contribflow validate --run"},
		{"own repository", func(r *review) { r.commands, r.refused = nil, "x is the owner" }, checkCommands, "Contribute from"},
		{"no commands", func(r *review) { r.commands = nil }, checkCommands, "Contribute from"},
		{"not disclosed", func(r *review) { r.body = draft{number: 1}.write() }, checkDisclosure, "Set \"aiDisclosure\""},
		{"disclosure cannot be accepted", func(r *review) { r.body, r.accepted = "", []string{checkDisclosure} }, checkDisclosure, "Set"},
		{"no inspector", func(r *review) { r.config.Pipeline = true }, checkInspector, "Let an Inspector"},
		{"inspector without pipeline", func(r *review) { r.inspector = &inspection{} }, "", ""},
		{"inspector failed", func(r *review) { r.config.Pipeline, r.inspector = true, &inspection{} }, checkInspector, "Make the changes"},
		{"changes requested", func(r *review) {
			r.config.Pipeline, r.inspector = true, judged("", handoff.ChangesRequested)
		}, checkInspector, "Make the changes"},
		{"approved", func(r *review) { r.config.Pipeline, r.inspector = true, judged("d", handoff.Approved) }, "", ""},
		{"approved another patch", func(r *review) { r.config.Pipeline, r.inspector = true, judged("e", handoff.Approved) }, checkInspector, "Let an Inspector"},
		{"changes of another patch requested", func(r *review) {
			r.config.Pipeline, r.inspector = true, judged("e", handoff.ChangesRequested)
		}, checkInspector, "Let an Inspector"},
		{"approved no patch in particular", func(r *review) { r.config.Pipeline, r.inspector = true, judged("", handoff.Approved) }, checkInspector, "Let an Inspector"},
		{"stale dry run", func(r *review) { r.dryRun = "The workspace changed after the dry run: run it again." }, checkDryRun, "contribflow pr --draft --json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := ready()
			tt.change(&r)
			v := r.judge()
			var failed []string
			for _, c := range v.gate.Checks {
				if c.Status == contract.Failed {
					failed = append(failed, c.Name)
				}
				if c.Reason == "" {
					t.Errorf("%s has no reason", c.Name)
				}
			}
			want := []string{tt.check}
			if tt.check == "" {
				want = nil
			}
			if !slices.Equal(failed, want) || v.passed() != (tt.check == "") || !strings.HasPrefix(v.next.Command, tt.next) || tt.check != "" && v.next.Command == "" {
				t.Errorf("failed %v, passed %v, next %q", failed, v.passed(), v.next.Command)
			}
			if last := v.gate.Checks[len(v.gate.Checks)-1]; last.Name != checkDryRun {
				t.Errorf("the last check is %s", last.Name)
			}
		})
	}
}

// TestBody checks the body for a patch with hostile file names and texts.
func TestBody(t *testing.T) {
	t.Parallel()
	body := draft{
		number: 7, disclose: true, extra: "token ghp_" + strings.Repeat("a", 36), template: "## Checklist\n- [ ] tests",
		files:      []contract.ChangedFile{{Path: "a`b\nc](x)", Status: "A", Additions: 1}},
		validation: &contract.Validation{Commands: []contract.CommandRun{{Command: "npm run `x`", Status: contract.Passed, SandboxImage: "node:22", WorkingDirectory: "examples"}}},
		accepted:   []string{checkSize},
	}.write()
	for _, want := range []string{"- Addresses #7.\n", "- `npm run 'x'` in `examples`: passed (Docker, `node:22`)\n", "accepted these warnings: patch_size", "## Checklist"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	for _, bad := range []string{"ghp_", "a`b"} {
		if strings.Contains(body, bad) {
			t.Errorf("%q in\n%s", bad, body)
		}
	}
	if !disclosed(body) {
		t.Error("not disclosed")
	}
	unchecked := draft{number: 7, disclose: true, validation: &contract.Validation{Commands: []contract.CommandRun{{Command: "git diff --check", Status: contract.Passed}}}}.write()
	if !disclosed(unchecked) || strings.Contains(unchecked, "validated") || !strings.Contains(unchecked, "It was not built or tested") {
		t.Errorf("got\n%s", unchecked)
	}
	long := draft{number: 1, disclose: true, extra: strings.Repeat("x", 100_000)}
	if got := long.write(); len([]rune(got)) > maxBody || !disclosed(got) {
		t.Errorf("%d characters", len([]rune(got)))
	}
}
