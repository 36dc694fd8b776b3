package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/org/foreman-action/internal/release/entry"
	"github.com/org/foreman-action/internal/release/image"
	"github.com/org/foreman-action/internal/release/program"
)

// load builds the image of the server for the processor of this machine, and loads it into Docker as
// foremand:VERSION. It needs no base image.
func load(ctx context.Context, env Env, o *options, _ string) error {
	spec, platform := image.Server(), "linux-"+runtime.GOARCH
	if !slices.Contains(image.Platforms(), platform) {
		return fmt.Errorf("the image of foremand has no platform %s: want one of %v", platform, image.Platforms())
	}
	folder, err := os.MkdirTemp("", "foremand-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	list := program.All()
	server := list[slices.IndexFunc(list, func(p program.Program) bool { return p.Name == spec.Program })]
	b := program.Builder{Dir: o.root, Version: o.version, Repository: o.anyRepository()}
	if err := b.Build(ctx, server, platform, filepath.Join(folder, entry.File(spec.Program, platform))); err != nil {
		return err
	}
	r, err := o.release(ctx)
	if err != nil {
		return err
	}
	tag := spec.File + ":" + o.version
	archive, write := io.Pipe()
	go func() { write.CloseWithError(image.Archive(tag, spec, r, platform, folder)(write)) }()
	cmd := exec.CommandContext(ctx, "docker", "load", "--quiet")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = archive, env.Stderr, env.Stderr
	if err := cmd.Run(); err != nil {
		archive.CloseWithError(err)
		return fmt.Errorf("load the image into Docker: %w", err)
	}
	_, err = fmt.Fprintln(env.Stdout, tag)
	return err
}
