// Package image assembles the images of a release as OCI layouts, without a daemon and without a
// base image: a program, a CA bundle and /tmp. The same programs make the same digests.
package image

import (
	"archive/tar"
	"bytes"
	"cmp"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/org/foreman-action/internal/release/entry"
)

// A Spec describes one image.
type Spec struct {
	Program     string // its only one, as the build names it
	File        string // name of the program in the image
	Title       string
	Description string
	User        string // empty: root
	Data        string // a folder that the user may write to; empty: none
}

// The numeric user of images that need no root.
const user = 65532

// Action returns the action's image. Its user is root: the runner mounts the workspace and the files
// for outputs as its own user with mode 0644, and only root in the container can append to them.
func Action() Spec {
	return Spec{Program: "action", File: "foreman", Title: "foreman",
		Description: "Rules or agents decide. Foreman acts: issue events become ordered, guarded writes."}
}

// Server returns the image of foremand.
func Server() Spec {
	return Spec{Program: "foremand", File: "foremand", Title: "foremand",
		Description: "The harness as a service: a durable queue between GitHub and agents.",
		User:        fmt.Sprintf("%d:%d", user, user), Data: "/var/lib/foremand"}
}

// A Release is the part of an image that differs between releases.
type Release struct {
	Version  string    // such as v1.2.3
	Revision string    // the commit
	Source   string    // address of the repository
	Created  time.Time // the commit's time, for equal images from equal commits
}

// Platforms returns the platforms of an image.
func Platforms() []string { return []string{"linux-amd64", "linux-arm64"} }

// Write assembles an image for some platforms from the programs in a folder and writes it as
// an OCI layout to another folder, which must not exist. It returns the digest of the index.
func Write(folder string, s Spec, r Release, platforms []string, programs string) (string, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range platforms {
		machine := platform[len("linux-"):]
		img, err := assemble(s, r, machine, filepath.Join(programs, entry.File(s.Program, platform)))
		if err != nil {
			return "", fmt.Errorf("assemble the image of %s for %s: %w", s.Program, platform, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: machine}},
		})
	}
	if _, err := os.Lstat(folder); err == nil {
		return "", fmt.Errorf("write the image of %s: %s exists", s.Program, folder)
	}
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return "", err
	}
	if err := path.AppendIndex(index); err != nil {
		return "", err
	}
	digest, err := index.Digest()
	if err != nil {
		return "", err
	}
	return digest.String(), nil
}

// Archive returns a function that writes an image for one platform, with a tag, in the form that
// "docker load" reads.
func Archive(tag string, s Spec, r Release, platform, programs string) func(w io.Writer) error {
	return func(w io.Writer) error {
		img, err := assemble(s, r, platform[len("linux-"):], filepath.Join(programs, entry.File(s.Program, platform)))
		if err != nil {
			return fmt.Errorf("assemble the image of %s for %s: %w", s.Program, platform, err)
		}
		t, err := name.NewTag(tag)
		if err != nil {
			return err
		}
		return tarball.Write(t, img, w)
	}
}

func assemble(s Spec, r Release, machine, program string) (v1.Image, error) {
	content, err := files(s, r, program)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err = mutate.Append(img, mutate.Addendum{Layer: layer, MediaType: types.OCILayer,
		History: v1.History{Created: v1.Time{Time: r.Created}, CreatedBy: "internal/release"}})
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", machine, v1.Time{Time: r.Created}
	var env []string
	if s.Data != "" {
		// The databases lie below the home folder by default. Docker gives a user without an entry
		// in /etc/passwd the folder /, which it may not write to.
		env = []string{"HOME=" + s.Data, "XDG_STATE_HOME=" + s.Data}
	}
	config.Config = v1.Config{
		Entrypoint: []string{"/" + s.File}, User: s.User, WorkingDir: cmp.Or(s.Data, "/"), Env: env,
		Labels: map[string]string{
			"org.opencontainers.image.title":       s.Title,
			"org.opencontainers.image.description": s.Description,
			"org.opencontainers.image.source":      r.Source,
			"org.opencontainers.image.licenses":    "MIT",
			"org.opencontainers.image.version":     r.Version,
			"org.opencontainers.image.revision":    r.Revision,
		},
	}
	return mutate.ConfigFile(img, config)
}

// files returns the only layer of an image as a tar file.
func files(s Spec, r Release, program string) ([]byte, error) {
	code, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(h tar.Header, content []byte) error {
		h.ModTime, h.Format, h.Size = r.Created.Truncate(time.Second), tar.FormatPAX, int64(len(content))
		if err := w.WriteHeader(&h); err != nil {
			return err
		}
		_, err := w.Write(content)
		return err
	}
	type file struct {
		tar.Header
		content []byte
	}
	folder := func(name string, mode int64, owner int) file {
		return file{tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: mode, Uid: owner, Gid: owner}, nil}
	}
	list := []file{
		folder("etc", 0o755, 0), folder("etc/ssl", 0o755, 0), folder("etc/ssl/certs", 0o755, 0),
		{tar.Header{Typeflag: tar.TypeReg, Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644}, certificates()},
		{tar.Header{Typeflag: tar.TypeReg, Name: s.File, Mode: 0o755}, code},
		folder("tmp", 0o1777, 0),
	}
	if s.Data != "" {
		list = append(list, folder("var", 0o755, 0), folder("var/lib", 0o755, 0), folder(s.Data[1:], 0o750, user))
	}
	for _, f := range list {
		if err := add(f.Header, f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// certificates returns Mozilla's roots as PEM, sorted. Roots with a constraint are left out: a
// file cannot express it.
func certificates() []byte {
	var list []string
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			list = append(list, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})))
		}
	}
	slices.Sort(list)
	return []byte(strings.Join(list, ""))
}
