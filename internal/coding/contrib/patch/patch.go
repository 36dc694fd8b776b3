// Package patch makes the document that describes a change for its review. It contains the changed
// files, the sensitive files, duplicated lines, and the patch itself.
package patch

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/snapshot"
	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/secret"
)

// maxShown is how many bytes of a patch the document holds.
const maxShown = 1 << 20

// Make describes the change of a snapshot. globs are additional sensitive paths. The caller sets
// the fields that do not come from the change: issue, paths, time and next action. The returned
// patch is complete, in the form that git apply reads.
func Make(ctx context.Context, s *snapshot.Snapshot, globs []string) (contract.Patch, []byte, error) {
	patch, changes, err := s.Patch(ctx)
	if err != nil {
		return contract.Patch{}, nil, err
	}
	document := contract.Patch{HasChanges: len(changes) > 0, Summary: summary(len(changes)), BaseSHA: s.Base, PatchDigest: s.Digest(patch)}
	document.Diff, document.DiffTruncated = cut(patch)
	sections, err := split(patch, changes)
	if err != nil {
		return contract.Patch{}, nil, fmt.Errorf("read the patch: %w", err)
	}
	for i, c := range changes {
		document.ChangedFiles = append(document.ChangedFiles, contract.ChangedFile{
			Path: Name(c.Path), OldPath: Name(c.From), Status: c.Status[:1], Binary: sections[i].binary,
			Additions: len(sections[i].added), Deletions: len(sections[i].deleted),
		})
	}
	flagged, err := sensitive(ctx, s, changes, sections, globs)
	if err != nil {
		return contract.Patch{}, nil, err
	}
	hidden, err := History(ctx, s, globs)
	if err != nil {
		return contract.Patch{}, nil, err
	}
	flagged = slices.Compact(slices.Sorted(slices.Values(append(flagged, hidden...))))
	for _, name := range flagged {
		document.RiskFlags.SensitiveFiles = append(document.RiskFlags.SensitiveFiles, Name(name))
	}
	risks := &document.RiskFlags
	if risks.DuplicateContent, risks.DuplicateSearchIncomplete, err = duplicates(ctx, s, changes, sections); err != nil {
		return contract.Patch{}, nil, err
	}
	if risks.DuplicateSearchIncomplete != "" {
		document.Warnings = append(document.Warnings, "the search for content that the repository has already is incomplete: "+risks.DuplicateSearchIncomplete)
	}
	for i := range risks.DuplicateContent {
		d := &risks.DuplicateContent[i]
		d.Path = Name(d.Path)
	}
	return document, patch, nil
}

// split returns the section of each changed path.
func split(patch []byte, changes []git.Raw) ([]section, error) {
	all, err := parse(patch)
	if err != nil {
		return nil, err
	}
	sections := make([]section, 0, len(changes))
	for i, c := range changes {
		n := 1
		if c.Status == "T" { // the type of the file changed; git deletes the old one and adds the new one
			n++
		}
		if len(all) < n {
			return nil, fmt.Errorf("it ends before file %d of %d", i+1, len(changes))
		}
		one := all[0]
		for _, more := range all[1:n] {
			one.binary = one.binary || more.binary
			one.added, one.deleted = append(one.added, more.added...), append(one.deleted, more.deleted...)
		}
		sections, all = append(sections, one), all[n:]
	}
	if len(all) > 0 {
		return nil, fmt.Errorf("it has %d files more than the %d that git lists", len(all), len(changes))
	}
	return sections, nil
}

// Name returns a path for a document. A path that is not valid text is quoted as in git.
func Name(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// cut returns the part of a patch that a document holds: whole lines, without credentials.
func cut(patch []byte) (shown string, truncated bool) {
	if len(patch) > maxShown {
		patch, truncated = patch[:maxShown], true
		patch = patch[:bytes.LastIndexByte(patch, '\n')+1]
	}
	return strings.ToValidUTF8(secret.RedactForms(string(patch)), "\uFFFD"), truncated
}

func summary(n int) string {
	switch n {
	case 0:
		return "No workspace changes detected."
	case 1:
		return "1 changed file detected."
	}
	return fmt.Sprintf("%d changed files detected.", n)
}
