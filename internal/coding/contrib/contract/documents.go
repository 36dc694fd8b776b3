package contract

import (
	"github.com/org/foreman-action/internal/scoring"
	"github.com/org/foreman-action/internal/scoring/evidence"
)

// A Status is the document of "status".
type Status struct {
	State                 State  `json:"state"`
	ConfigPath            string `json:"configPath"`
	ConfigExists          bool   `json:"configExists"`
	GHAuthenticated       bool   `json:"ghAuthenticated"`
	RequiresHumanApproval bool   `json:"requiresHumanApproval"`
	Next
	Reason      string  `json:"reason"`
	ActiveIssue *string `json:"activeIssue"` // nil: no active issue
	Cwd         string  `json:"cwd"`
	AuthSource  string  `enum:"gh,env,none" json:"authSource"`
}

// A Recommendation is the document of "next".
type Recommendation struct {
	State State `json:"state"`
	Next
	RequiresHumanApproval bool   `json:"requiresHumanApproval"`
	Reason                string `json:"reason"`
}

// A Demo is the document of "demo": each command with its document.
type Demo struct {
	Steps         []DemoStep `json:"steps"`
	Directory     string     `json:"directory"`
	WorkspacePath string     `json:"workspacePath"`
	Next
	Reason string `json:"reason"`
}

// A DemoStep is a command of the demo and its document.
type DemoStep struct {
	Command  string `json:"command"`
	Document any    `json:"document"`
}

// An Init is the document of "init". Config is the file as it is now.
type Init struct {
	Status     string `enum:"created,exists,overwritten" json:"status"`
	ConfigPath string `json:"configPath"`
	Config     any    `json:"config"`
	Next
	Reason string `json:"reason"`
}

// An Error is the document of a command that failed and so has no document of its own.
type Error struct {
	Status string      `enum:"error" json:"status"`
	Error  ErrorDetail `json:"error"`
	Next
	Reason string `json:"reason"`
}

// An ErrorDetail describes why a command failed.
type ErrorDetail struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Details any    `json:"details,omitempty"`
}

// A Code is the kind of an error.
type Code string

// The codes of errors.
const (
	CodeUsage             Code = "usage"
	CodeConfig            Code = "config_invalid"
	CodeAuth              Code = "github_auth_required"
	CodeUnreachable       Code = "github_unreachable"
	CodeIssueNotFound     Code = "issue_not_found"
	CodeIssueMoved        Code = "issue_moved" // the message has its new name
	CodeIssueClosed       Code = "issue_closed"
	CodeIssueIsPull       Code = "issue_is_pull_request"
	CodeNoIssue           Code = "no_active_issue"
	CodeNoWorkspace       Code = "no_workspace"
	CodeWorkspaceMismatch Code = "workspace_mismatch"
	CodeWorkspaceDirty    Code = "workspace_dirty"
	CodeNoPatch           Code = "no_patch_artifact"
	CodePatchTooLarge     Code = "patch_too_large"
	CodeBuilderFailed     Code = "builder_failed"
	CodeGitMissing        Code = "git_missing"
	CodeGHMissing         Code = "gh_missing"
	CodeRecord            Code = "record_invalid" // a file below .contribflow is not ours
	CodeLocked            Code = "locked"
	CodeInternal          Code = "internal"
)

// Codes returns all codes of errors.
func Codes() []Code {
	return []Code{
		CodeUsage,
		CodeConfig,
		CodeAuth,
		CodeUnreachable,
		CodeIssueNotFound,
		CodeIssueMoved,
		CodeIssueClosed,
		CodeIssueIsPull,
		CodeNoIssue,
		CodeNoWorkspace,
		CodeWorkspaceMismatch,
		CodeWorkspaceDirty,
		CodeNoPatch,
		CodePatchTooLarge,
		CodeBuilderFailed,
		CodeGitMissing,
		CodeGHMissing,
		CodeRecord,
		CodeLocked,
		CodeInternal,
	}
}

// A Throttle describes a time during which GitHub must not be asked, or does not answer.
type Throttle struct {
	Kind              string `enum:"primary_rate_limit,secondary_rate_limit,github_unavailable,offline" json:"kind"`
	Scope             string `enum:"discovery_query,score_lookup,plan_lookup,duplicate_lookup,pr_write" json:"scope"`
	FailingQuery      string `json:"failingQuery"`
	Message           string `json:"message"` // GitHub's error message
	RetryAfterSeconds *int   `json:"retryAfterSeconds"`
	RetryAfterAt      *Time  `json:"retryAfterAt"`
	RetryGuidance     string `json:"retryGuidance"`
	HTTPStatus        int    `json:"httpStatus,omitempty"`
}

// The kinds of throttling. Unavailable means that GitHub refused or failed for another reason.
// Offline means that "--offline" prevented a read.
const (
	PrimaryLimit   = "primary_rate_limit"
	SecondaryLimit = "secondary_rate_limit"
	Unavailable    = "github_unavailable"
	Offline        = "offline"
)

// The scopes of throttling.
const (
	ScopeDiscovery = "discovery_query"
	ScopeScore     = "score_lookup"
	ScopePlan      = "plan_lookup"
	ScopeDuplicate = "duplicate_lookup"
	ScopePR        = "pr_write"
)

// A BlockedLookup is the document of "score" and "plan" when GitHub does not answer.
type BlockedLookup struct {
	Status  string   `enum:"blocked" json:"status"` // Blocked
	Issue   string   `json:"issue"`
	Blocked Throttle `json:"blocked"`
	Next
	Reason string `json:"reason"`
}

// A Discovery is the document of "discover".
type Discovery struct {
	Status            string      `enum:"ok,blocked"        json:"status"`
	Query             string      `json:"query"`
	Candidates        []Candidate `json:"candidates"`
	Blocked           *Throttle   `json:"blocked,omitempty"`
	SuggestedCommands []string    `json:"suggestedCommands"`
	SuggestedQueries  []string    `json:"suggestedQueries"`
	Next
	Reason     string     `json:"reason"`
	Suppressed Suppressed `json:"suppressed"`
	PoolSize   int        `json:"poolSize"`
	Warnings   []string   `json:"warnings"`
}

// Suppressed counts the issues that discovery left out, by reason.
type Suppressed struct {
	Stale                int `json:"stale"`
	Duplicate            int `json:"duplicate"`
	SecuritySensitive    int `json:"securitySensitive"`
	DependencyAutomation int `json:"dependencyAutomation"`
	Assigned             int `json:"assigned"`
	PullRequest          int `json:"pullRequest"`
	Archived             int `json:"archived"`
	Excluded             int `json:"excluded"` // by excludeRepos
}

// A Candidate is an issue that discovery found.
type Candidate struct {
	ID                   string                `json:"id"` // "github:owner/repo#1"
	Owner                string                `json:"owner"`
	Repo                 string                `json:"repo"`
	FullName             string                `json:"fullName"`
	Number               int                   `json:"number"`
	Title                string                `json:"title"`
	URL                  string                `json:"url"`
	Labels               []string              `json:"labels"`
	Language             *string               `json:"language"` // nil: unknown
	Stars                int                   `json:"stars"`
	DuplicateEvidence    []evidence.Evidence   `json:"duplicateEvidence"`
	Score                int                   `json:"score"`
	Recommendation       string                `json:"recommendation"`
	ScoreExplanation     []scoring.Explanation `json:"scoreExplanation"`
	RiskLevel            evidence.Level        `json:"riskLevel"`
	RiskFlags            scoring.RiskFlags     `json:"riskFlags"`
	EstimatedEffortHours int                   `json:"estimatedEffortHours"`
}

// A Score is the document of "score". The impacts of its explanation add up to the same sum as the
// values of its breakdown. The score is this sum, limited to the range from 0 to 100.
type Score struct {
	Candidate         ScoredIssue           `json:"candidate"`
	Score             int                   `json:"score"`
	ScoreBand         string                `json:"scoreBand"`
	Recommendation    string                `json:"recommendation"` // the band
	RiskLevel         evidence.Level        `json:"riskLevel"`
	DuplicateEvidence []evidence.Evidence   `json:"duplicateEvidence"`
	Breakdown         scoring.Breakdown     `json:"breakdown"`
	Explanation       []scoring.Explanation `json:"explanation"`
	Next
	RiskFlags            scoring.RiskFlags `json:"riskFlags"`
	EstimatedEffortHours int               `json:"estimatedEffortHours"`
	Warnings             []string          `json:"warnings"`
}

// A ScoredIssue is the issue of a score.
type ScoredIssue struct {
	ID       string `json:"id"`
	FullName string `json:"fullName"`
	Number   int    `json:"number"`
	Title    string `json:"title"`
}

// A Plan is the document of "plan".
type Plan struct {
	Issue                 string            `json:"issue"`
	IssueURL              string            `json:"issueUrl"`
	Title                 string            `json:"title"`
	Summary               string            `json:"summary"`
	ProposedFix           string            `json:"proposedFix"`
	LikelyFiles           []string          `json:"likelyFiles"`
	RepositoryContext     RepositoryContext `json:"repositoryContext"`
	ValidationCommands    []string          `json:"validationCommands"`
	TestPlan              []string          `json:"testPlan"`
	PRTitleGuidance       []string          `json:"prTitleGuidance"`
	PRBodyGuidance        []string          `json:"prBodyGuidance"`
	StopConditions        []string          `json:"stopConditions"`
	RiskLevel             evidence.Level    `json:"riskLevel"`
	RiskAssessment        string            `json:"riskAssessment"`
	Score                 int               `json:"score"`
	ScoreBand             string            `json:"scoreBand"`
	Recommendation        string            `json:"recommendation"`
	Assumptions           []string          `json:"assumptions"`
	Questions             []string          `json:"questions"`
	RequiresHumanApproval bool              `json:"requiresHumanApproval"`
	Next
	Warnings []string `json:"warnings"`
}

// A RepositoryContext contains the facts about a repository that a plan uses.
type RepositoryContext struct {
	GuidanceFiles      []string `json:"guidanceFiles"`
	PackageManager     *string  `json:"packageManager"` // nil: none
	PackageScripts     []string `json:"packageScripts"`
	TestLayouts        []string `json:"testLayouts"`
	GeneratedFileRules []string `json:"generatedFileRules"`
}

// A Workspace is the document of "checkout".
type Workspace struct {
	Issue          string     `json:"issue"`
	WorkspacePath  string     `json:"workspacePath"` // relative to the controller's folder, with slashes
	ControllerPath string     `json:"controllerWorkspacePath"`
	RunFrom        string     `json:"runFrom"`
	Repo           string     `json:"repo"`
	Branch         string     `json:"branch"`
	Created        bool       `json:"created"`
	Clean          bool       `json:"clean"`
	LogPath        string     `json:"logPath"`
	LastCommand    string     `json:"lastCommand"`
	Submodules     Submodules `json:"submodules"`
	Next
	BaseBranch string   `json:"baseBranch"`
	BaseSHA    string   `json:"baseSha"`
	CloneURL   string   `json:"cloneUrl"`
	Warnings   []string `json:"warnings"`
}

// Submodules is the state of the submodules of a workspace.
type Submodules struct {
	Status             string   `enum:"none,requires_initialization,initialized" json:"status"`
	Paths              []string `json:"paths"`
	Reason             string   `json:"reason"`
	RecommendedCommand *string  `json:"recommendedCommand"` // nil: nothing to do
}

// The states of submodules.
const (
	SubmodulesNone    = "none"
	SubmodulesMissing = "requires_initialization"
	SubmodulesReady   = "initialized"
)

// A Patch is the document of "diff".
type Patch struct {
	Issue         string        `json:"issue"`
	WorkspacePath string        `json:"workspacePath"`
	ArtifactPath  string        `json:"artifactPath"`
	CreatedAt     Time          `json:"createdAt"`
	HasChanges    bool          `json:"hasChanges"`
	Summary       string        `json:"summary"`
	ChangedFiles  []ChangedFile `json:"changedFiles"`
	RiskFlags     PatchRisks    `json:"riskFlags"`
	Diff          string        `json:"diff"`
	Next
	PatchDigest   string `json:"patchDigest"` // SHA-256 of BaseSHA and the patch, in hexadecimal
	BaseSHA       string `json:"baseSha"`
	DiffTruncated bool   `json:"diffTruncated,omitempty"`
	// Warnings are the reads that failed.
	Warnings []string `json:"warnings,omitempty"`
}

// A ChangedFile is a file that a patch changes.
type ChangedFile struct {
	Path      string `json:"path"`
	Status    string `enum:"A,M,D,R,C,T"       json:"status"` // git's letter
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	OldPath   string `json:"oldPath,omitempty"`
	Binary    bool   `json:"binary,omitempty"`
}

// PatchRisks are the parts of a patch that a person has to review.
type PatchRisks struct {
	SensitiveFiles   []string    `json:"sensitiveFiles"`
	DuplicateContent []Duplicate `json:"duplicateContent"`
	// DuplicateSearchIncomplete is the reason why there may be more duplicates. Empty: the search
	// covered the whole patch and the whole repository.
	DuplicateSearchIncomplete string `json:"duplicateSearchIncomplete,omitempty"`
}

// A Duplicate is an added line that the repository already contains.
type Duplicate struct {
	Path             string         `json:"path"`
	AddedText        string         `json:"addedText"`
	ExistingLocation string         `json:"existingLocation"` // "HEAD:path:line:text"
	Confidence       evidence.Level `json:"confidence"`
	Reason           string         `json:"reason"`
}

// A Validation is the document of "validate".
type Validation struct {
	Status        string       `enum:"passed,failed,blocked" json:"status"`
	WorkspacePath string       `json:"workspacePath"`
	SetupCommands []CommandRun `json:"setupCommands"`
	Commands      []CommandRun `json:"commands"`
	BlocksPR      bool         `json:"blocksPr"`
	Reason        string       `json:"reason"`
	Next
	RequiresHumanApproval bool             `json:"requiresHumanApproval"`
	Issue                 string           `json:"issue"`
	PatchDigest           string           `json:"patchDigest"`
	SandboxSettings       *SandboxSettings `json:"sandboxSettings,omitempty"` // nil: nothing was run
	Accepted              []string         `json:"accepted"`                  // checks that a person accepted: "lockfile"
	Warnings              []string         `json:"warnings"`
	LogPath               string           `json:"logPath,omitempty"`
	CreatedAt             Time             `json:"createdAt"`
}

// A CommandRun describes a command of a validation and its result.
type CommandRun struct {
	Command          string   `json:"command"`
	WorkingDirectory string   `json:"workingDirectory,omitempty"` // of a nested package
	Status           string   `enum:"passed,failed,blocked,skipped"     json:"status"`
	ExitCode         *int     `json:"exitCode"` // nil: it did not run
	Reason           string   `json:"reason"`
	Sandbox          string   `enum:"docker"                            json:"sandbox,omitempty"`
	SandboxImage     string   `json:"sandboxImage,omitempty"`
	DurationMS       *int64   `json:"durationMs,omitempty"`
	SystemPackages   []string `json:"suggestedSystemPackages,omitempty"`
	Stdout           *string  `json:"stdout,omitempty"`
	Stderr           *string  `json:"stderr,omitempty"`
}

// SandboxSettings are the limits of a validation's containers.
type SandboxSettings struct {
	Network               string  `enum:"setup-only,none"       json:"network"`
	CPUs                  float64 `json:"cpus"`
	Memory                string  `json:"memory"`
	PIDs                  int     `json:"pids"`
	CommandTimeoutSeconds int     `json:"commandTimeoutSeconds"`
	TotalTimeoutSeconds   int     `json:"totalTimeoutSeconds"`
}

// A PullRequest is the document of "pr".
type PullRequest struct {
	Status                string        `enum:"dry_run,created,blocked,failed" json:"status"`
	Draft                 bool          `json:"draft"`
	BlocksPR              bool          `json:"blocksPr"`
	RequiresHumanApproval bool          `json:"requiresHumanApproval"`
	Issue                 string        `json:"issue"`
	Target                string        `json:"target"`
	Branch                string        `json:"branch"`
	Title                 string        `json:"title"`
	BodyPreview           string        `json:"bodyPreview"`
	ChangedFiles          []ChangedFile `json:"changedFiles"`
	ValidationStatus      string        `enum:"passed,failed,blocked,missing"  json:"validationStatus"`
	WouldRun              []string      `json:"wouldRun"`
	AIDisclosure          bool          `json:"aiDisclosure"`
	ReviewGate            ReviewGate    `json:"reviewGate"`
	PRURL                 *string       `json:"prUrl"` // nil: there is no pull request
	Reason                string        `json:"reason"`
	Next
	Base        string    `json:"base"`
	ForkOwner   string    `json:"forkOwner,omitempty"` // with ForkName: the repository to push to
	ForkName    string    `json:"forkName,omitempty"`
	PatchDigest string    `json:"patchDigest"`
	Accepted    []string  `json:"accepted"`            // checks that a person accepted
	Inspector   string    `json:"inspector,omitempty"` // SHA-256 of the Inspector's result
	Digest      string    `json:"digest"`              // of everything that --yes publishes; an approval in CI names it
	Commit      string    `json:"commit,omitempty"`    // the newest one that --yes pushed or tried to push
	Steps       []Step    `json:"steps"`
	Warnings    []string  `json:"warnings,omitempty"` // of the patch, and reads that failed
	FailedStep  string    `json:"failedStep,omitempty"`
	Blocked     *Throttle `json:"blocked,omitempty"`
	CreatedAt   Time      `json:"createdAt"`
}

// A ReviewGate contains the checks that must pass before anything is published.
type ReviewGate struct {
	State  string  `enum:"ready_for_human_review,blocked" json:"state"`
	Checks []Check `json:"checks"`
}

// A Check is one condition of a review gate.
type Check struct {
	Name   string `json:"name"`
	Status string `enum:"passed,failed" json:"status"`
	Reason string `json:"reason"`
}

// A Step is a planned command that was run or skipped.
type Step struct {
	Command string `json:"command"`
	Status  string `enum:"passed,failed,skipped" json:"status"`
	Reason  string `json:"reason,omitempty"`
}
