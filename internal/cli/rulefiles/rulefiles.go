// Package rulefiles loads the rule files of the commands.
package rulefiles

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/failure"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/remote"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/yamlfile"
)

// Load loads the files that spec names, or else the configuration file, with their tests. It
// returns all mistakes and warnings. If there are mistakes, the configuration is nil. An error
// means that the files could not be found or read.
func Load(ctx context.Context, env process.Env, spec config.Spec) (*config.Config, yamlfile.Problems, error) {
	dir, err := env.WorkDir()
	if err != nil {
		return nil, nil, err
	}
	spec.Tests = true
	spec.IssueForms = files.Anywhere{Dir: dir}
	spec.Getenv = config.AnyVariable(env.Getenv)
	spec.Remote = remote.FromEnv(env).File
	if len(spec.Rules) == 0 {
		spec.Path, spec.Else = config.DefaultPath, config.OtherPath
	}
	cfg, err := config.Load(ctx, files.Anywhere{Dir: dir}, spec)
	if ps := failure.Problems(err); ps != nil {
		return nil, ps, nil
	}
	if errors.Is(err, config.ErrNotFound) || errors.Is(err, path.ErrBadPattern) {
		return nil, nil, command.Usage(err)
	}
	if err != nil {
		return nil, nil, err
	}
	if len(spec.Rules) == 0 && slices.Contains(cfg.Files, config.DefaultPath) && exists(filepath.Join(dir, filepath.FromSlash(config.OtherPath))) {
		cfg.Warnings = append(cfg.Warnings, yamlfile.Problem{
			File: config.OtherPath, Warning: true,
			Message: "this file is not read, because there is " + config.DefaultPath + "; keep one of the two",
		})
	}
	return cfg, cfg.Warnings, nil
}

// exists reports whether there is a file.
func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// LoadValid loads the named files, or else the configuration file. Mistakes in them are an error.
func LoadValid(ctx context.Context, env process.Env, names []string) (*config.Config, error) {
	cfg, problems, err := Load(ctx, env, config.Spec{Rules: names})
	if err != nil {
		return nil, err
	}
	if errs := yamlfile.Mistakes(problems); len(errs) > 0 {
		return nil, command.Usage(errs)
	}
	return cfg, nil
}
