package check

import (
	"bytes"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/cli/document"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A writer renders the mistakes in files. The notes name unchecked parts.
type writer func(ps yamlfile.Problems, notes []string) string

// formats returns the output formats for mistakes in files. SARIF also contains the program's
// version.
func formats(version string) map[string]writer {
	return map[string]writer{
		"text": checkText, "json": checkJSON, "github": checkGitHub,
		"sarif": func(ps yamlfile.Problems, _ []string) string { return checkSARIF(ps, version) },
	}
}

func checkText(ps yamlfile.Problems, notes []string) string {
	var b strings.Builder
	for _, p := range ps {
		b.WriteString(p.Error() + "\n")
	}
	mistakes := len(yamlfile.Mistakes(ps))
	fmt.Fprintf(&b, "%s, %s\n", format.Count(mistakes, "mistake"), format.Count(len(ps)-mistakes, "warning"))
	for _, note := range notes {
		b.WriteString("note: " + note + "\n")
	}
	return b.String()
}

func checkJSON(ps yamlfile.Problems, notes []string) string {
	return format.JSON(document.ProblemsOf(ps, notes...), "  ") + "\n"
}

// The parts of a SARIF log that code scanning reads. See SARIF 2.1.0, OASIS standard,
// 27 March 2020.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
		Columns string        `json:"columnKind"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID   string    `json:"id"`
		Text sarifText `json:"shortDescription"`
	}
	sarifResult struct {
		Rule      string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
)

const sarifRuleID = "foreman-configuration"

func checkSARIF(ps yamlfile.Problems, version string) string {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "foreman", Version: version,
			Rules: []sarifRule{{sarifRuleID, sarifText{"A mistake in a configuration or rule file"}}},
		}},
		Results: make([]sarifResult, 0, len(ps)), Columns: "unicodeCodePoints",
	}
	for _, p := range document.ProblemsOf(ps).Problems {
		run.Results = append(run.Results, sarifResult{
			Rule: sarifRuleID, Level: p.Severity, Message: sarifText{p.Message},
			Locations: []sarifLocation{{sarifPhysical{sarifArtifact{(&url.URL{Path: filepath.ToSlash(p.File)}).EscapedPath()}, sarifRegion{max(p.Line, 1), p.Column}}}},
		})
	}
	return format.JSON(sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	}, "  ") + "\n"
}

// checkGitHub renders workflow commands, which GitHub shows as annotations.
func checkGitHub(ps yamlfile.Problems, notes []string) string {
	var b bytes.Buffer
	rt := actions.New(actions.Options{Stdout: &b, Getenv: func(name string) string {
		if name == "GITHUB_ACTIONS" {
			return "true"
		}
		return ""
	}})
	for _, p := range ps {
		level := actions.Error
		if p.Warning {
			level = actions.Warning
		}
		rt.Log.Annotate(actions.Annotation{
			Level: level, Title: "Foreman configuration", File: p.File, Line: p.Line, Column: p.Column, Message: p.Message,
		})
	}
	for _, note := range notes {
		rt.Log.Annotate(actions.Annotation{Level: actions.Notice, Title: "Foreman configuration", Message: note})
	}
	return b.String()
}
