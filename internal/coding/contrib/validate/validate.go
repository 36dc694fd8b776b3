// Package validate runs the checks of a repository on the patch of the active issue. It runs them
// only in Docker containers, never on the host.
package validate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/ecosystem"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/coding/sandbox"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// Docker is the name of the only sandbox.
const Docker = "docker"

// AcceptLockfile is the value in [Options.Accept] that accepts changed lockfiles.
const AcceptLockfile = "lockfile"

// Options are the flags of "validate".
type Options struct {
	Run     bool
	Sandbox string   // empty or [Docker]
	Only    string   // run only the command with this line; empty: all commands
	Accept  []string // [AcceptLockfile]
}

// Check returns an error for an invalid option.
func (o Options) Check() error {
	switch {
	case o.Sandbox != "" && o.Sandbox != Docker:
		return fmt.Errorf("--sandbox: want %s, got %q", Docker, text.Quote(o.Sandbox))
	case o.Run && o.Sandbox == "":
		return errors.New("--run needs --sandbox docker: commands of a repository never run directly on this machine")
	}
	for _, accepted := range o.Accept {
		if accepted != AcceptLockfile {
			return fmt.Errorf("--accept: want %s, got %q", AcceptLockfile, text.Quote(accepted))
		}
	}
	return nil
}

// Run returns the document of "validate". It writes the document and a log to files. Without
// [Options.Run], it only detects commands.
func Run(ctx context.Context, s session.Session, o Options) (contract.Validation, error) {
	if err := checkImages(s.Config.Sandbox.Images); err != nil {
		return contract.Validation{}, &contract.Problem{Code: contract.CodeConfig, Err: fmt.Errorf("%s: %w", controller.ConfigPath, err)}
	}
	if _, err := s.Controller.Key(); err != nil { // storing the result needs the key
		return contract.Validation{}, err
	}
	c, err := openChange(ctx, s)
	if err != nil {
		return contract.Validation{}, err
	}
	defer c.close()
	tree, err := c.tree(ctx)
	if err != nil {
		return contract.Validation{}, err
	}
	accept := slices.Contains(o.Accept, AcceptLockfile)
	found, err := ecosystem.Detect(tree, ecosystem.Options{
		Changed: c.paths, AcceptLockfiles: accept, Images: s.Config.Sandbox.Images, Root: sandboxRoot,
	})
	if err != nil {
		return contract.Validation{}, fmt.Errorf("detect the commands of the repository: %w", err)
	}
	if found, err = choose(found, o.Only); err != nil {
		return contract.Validation{}, err
	}
	d := newDocument(s, c, found)
	if accept {
		d.Accepted = []string{AcceptLockfile}
	}
	switch block := blockOf(found); {
	case block != nil:
		d.blockSetup(*block, o.Run)
	case !o.Run:
		d.detected()
	default:
		r := runner{s: s, change: c, found: found, document: d, log: log{redactor: newRedactor(s.Environ)}}
		err := r.run(ctx)
		if logErr := s.Controller.WriteFile(c.files.ValidationLog, r.log.text.Bytes()); err == nil {
			err = logErr
		}
		if err != nil {
			return contract.Validation{}, err
		}
	}
	if o.Only != "" && d.Status != contract.Failed {
		d.partial(o.Only)
	}
	return d.Validation, d.save(s, c.files.Validation)
}

// checkImages returns the mistakes in the images of a configuration.
func checkImages(images map[string]string) error {
	var bad []error
	for key, image := range images {
		if !slices.Contains(ecosystem.Ecosystems(), key) {
			bad = append(bad, fmt.Errorf("sandbox.images: unknown key %q%s", text.Quote(key), yamlfile.DidYouMean(key, ecosystem.Ecosystems())))
		} else if err := sandbox.CheckImage(image); err != nil {
			bad = append(bad, fmt.Errorf("sandbox.images.%s: %w", key, err))
		}
	}
	slices.SortFunc(bad, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(bad...)
}

// choose removes the commands whose line differs from only. If only is empty, it keeps all
// commands.
func choose(found ecosystem.Detection, only string) (ecosystem.Detection, error) {
	if only == "" {
		return found, nil
	}
	var lines []string
	chosen := slices.DeleteFunc(slices.Clone(found.Commands), func(c ecosystem.Command) bool {
		lines = append(lines, c.Line)
		return c.Line != only
	})
	if len(chosen) == 0 {
		return found, contract.Fail(contract.CodeUsage, "--only: the repository has no command %q; want one of: %s",
			text.Quote(only), strings.Join(slices.Compact(lines), ", "))
	}
	found.Commands = chosen
	return found, nil
}

// blockOf returns the first reason for which a setup must not run; nil where there is none.
func blockOf(found ecosystem.Detection) *ecosystem.Block {
	for _, setup := range found.Setup {
		if setup.Block != nil {
			return setup.Block
		}
	}
	return nil
}
