// Package program builds the programs of a release: the same bytes from the same source,
// wherever it lies.
package program

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/org/foreman-action/internal/release/entry"
)

// A Program is one of the programs of a release.
type Program struct {
	Name    string
	Package string // its folder, from the root of the module
	Version string // the variable that contains its version
	// Repository is the variable that contains the repository that releases; empty: none.
	Repository string
	// Tags are the build tags, separated by commas; empty: none.
	Tags string
}

const module = "github.com/org/foreman-action/internal/cli"

// All returns the programs that a release publishes as files.
func All() []Program {
	return []Program{
		{"foreman", "./cmd/foreman", module + ".buildVersion", module + ".buildRepository", ""},
		{"foremand", "./cmd/foremand", module + "/foremand.buildVersion", "", ""},
		{"contribflow", "./cmd/contribflow", module + "/contribflow.buildVersion", "", ""},
	}
}

// Image returns the program of the action's image, which is no file of a release. As in the Dockerfile, it
// has no HTTP/2.
func Image() Program {
	return Program{"action", "./cmd/action", module + "/image.buildVersion", module + "/image.buildRepository", "nethttpomithttp2"}
}

// Flags returns the flags of go build. The bytes depend on the source, the version and the repository
// that releases, as OWNER/NAME: no path, no state of git, no C compiler takes part.
func (p Program) Flags(version, repository string) []string {
	variables := "-X " + p.Version + "=" + version
	if p.Repository != "" {
		variables += " -X " + p.Repository + "=" + repository
	}
	flags := []string{"-trimpath", "-buildvcs=false", "-ldflags=-s -w " + variables}
	if p.Tags != "" {
		flags = append(flags, "-tags="+p.Tags)
	}
	return flags
}

// A Builder builds programs.
type Builder struct {
	Dir     string // the root of the module
	Version string // version that the programs print, such as v1.2.3
	// Repository releases the programs, as OWNER/NAME. "foreman init" names it.
	Repository string
	Cache      string // for compiled packages; empty: the user's own
}

// Build builds a program for a platform, such as linux-amd64, into a file.
func (b Builder) Build(ctx context.Context, p Program, platform, file string) error {
	system, machine, _ := strings.Cut(platform, "-")
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"build"}, p.Flags(b.Version, b.Repository)...), "-o", file, p.Package)...)
	cmd.Dir = b.Dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+machine, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=")
	if b.Cache != "" {
		cmd.Env = append(cmd.Env, "GOCACHE="+b.Cache)
	}
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s for %s: %w: %s", p.Name, platform, err, strings.TrimSpace(log.String()))
	}
	return nil
}

// BuildAll builds all programs for some platforms into a folder, and that of the image for Linux. It
// returns their SHA-256 by file.
func (b Builder) BuildAll(ctx context.Context, platforms []string, folder string) (map[string]string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for _, p := range append(All(), Image()) {
		for _, platform := range platforms {
			if p == Image() && !strings.HasPrefix(platform, "linux-") {
				continue
			}
			file := entry.File(p.Name, platform)
			path := filepath.Join(folder, file)
			if err := b.Build(ctx, p, platform, path); err != nil {
				return nil, err
			}
			sum, err := Sum(path)
			if err != nil {
				return nil, err
			}
			sums[file] = sum
		}
	}
	return sums, nil
}

// Sum returns the SHA-256 of a file in hex.
func Sum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Copy copies the files that git tracks or would add to a folder.
func Copy(ctx context.Context, dir, to string) error {
	cmd := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("list the files of %s: %w", dir, err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		from, target := filepath.Join(dir, name), filepath.Join(to, name)
		info, err := os.Lstat(from)
		if os.IsNotExist(err) || err == nil && !info.Mode().IsRegular() {
			continue // removed and not committed yet, or a link
		}
		if err != nil {
			return err
		}
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, text, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}
