// Package initialize writes the configuration of a controller's folder.
package initialize

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/coding/contrib/state"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// Options are the flags of "init".
type Options struct {
	Force                    bool
	Languages, Topics, Types []string
}

// ignored is the content of a .gitignore that excludes all files of the folder.
const ignored = "*\n"

// Check returns an error for an invalid option.
func (o Options) Check() error {
	for _, kind := range o.Types {
		if !slices.Contains(controller.Types(), kind) {
			return contract.Fail(contract.CodeUsage, "unknown type %q%s; want one of %s",
				text.Quote(kind), yamlfile.DidYouMean(kind, controller.Types()), strings.Join(controller.Types(), ", "))
		}
	}
	return nil
}

// Run writes config.json, unless the file exists. With Force it replaces the file, and keeps the
// old one beside it.
func Run(s session.Session, o Options) (contract.Init, error) {
	out := contract.Init{ConfigPath: controller.ConfigPath, Next: contract.Run(contract.ActionDiscover, state.CommandDiscover)}
	old, err := s.Controller.ReadFile(controller.ConfigPath)
	exists := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return contract.Init{}, fmt.Errorf("read %s: %w", controller.ConfigPath, err)
	}
	if exists && !o.Force {
		out.Status, out.Reason = contract.Exists, "The configuration exists and was not changed. --force replaces it."
		if _, _, err := s.Controller.Config(); err != nil {
			out.Reason = "The configuration exists and has mistakes; correct it, or replace it with --force: " + err.Error()
			out.Next = contract.Instruct(contract.ActionInit, "Correct "+controller.ConfigPath+", or replace it with: contribflow init --force --json")
		}
		out.Config = shown(old)
		return out, nil
	}
	profile := controller.Default().Profile
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	profile.Languages = append(profile.Languages, slices.DeleteFunc(slices.Clone(o.Languages), blank)...)
	profile.Topics = append(profile.Topics, slices.DeleteFunc(slices.Clone(o.Topics), blank)...)
	profile.ContributionTypes = append(profile.ContributionTypes, o.Types...)
	out.Status, out.Reason = contract.Created, "The configuration was written. Adjust it to your interests."
	if exists {
		out.Status, out.Reason = contract.Replaced, "The configuration was replaced, but its content was already the same."
		written, err := contract.Encode(profile)
		if err != nil {
			return contract.Init{}, err
		}
		if !bytes.Equal(old, written) { // if equal, the older backup stays
			out.Reason = "The configuration was replaced. The old one is " + controller.ConfigPath + ".bak."
			err = s.Controller.WriteFile(controller.ConfigPath+".bak", old)
		}
		if err != nil {
			return contract.Init{}, err
		}
	}
	// The configuration is written last, because its existence makes the folder a controller's.
	if err := s.Controller.WriteFile(controller.Folder+"/.gitignore", []byte(ignored)); err != nil {
		return contract.Init{}, err
	}
	if err := s.Controller.Write(controller.ConfigPath, profile); err != nil {
		return contract.Init{}, err
	}
	out.Config = profile
	return out, nil
}

// shown returns the content of a file for a document: its JSON value, or its text if it is not
// JSON.
func shown(data []byte) any {
	if json.Valid(data) {
		return json.RawMessage(data)
	}
	const most = 1000
	return text.Shorten(string(data), most)
}
