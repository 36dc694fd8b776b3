package contents

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/release/manual"
	"github.com/org/foreman-action/internal/release/program"
)

// A container is a file that contains others: an archive or a package of one program.
type container struct {
	file string // its name
	kind string // how the name ends
}

// containers returns the archive and the packages of a program for a platform.
func containers(name, version, platform string) []container {
	system, machine, _ := strings.Cut(platform, "-")
	archive := name + "_" + version + "_" + system + "_" + machine
	pack := name + "_" + version + "_" + machine
	switch system {
	case "windows":
		return []container{{archive + ".zip", "zip"}}
	case "linux":
		return []container{{archive + ".tar.gz", "tar.gz"}, {pack + ".deb", "deb"}, {pack + ".rpm", "rpm"}}
	default:
		return []container{{archive + ".tar.gz", "tar.gz"}}
	}
}

// The parts of a container beside its program: SHA-256 by the name of the file.
type parts struct {
	texts       map[string]string
	completions map[string]string // by shell
	pages       map[string]string
	packaged    map[string]map[string]string // by kind of package
}

// packaged returns the files and scripts that the packages of a kind contain for one program only.
// It returns their paths in the repository, by the name that read uses.
func packaged(name, kind string) map[string]string {
	if name != "foremand" {
		return nil
	}
	const folder = "cmd/foremand/packaging/"
	files := map[string]string{
		"/usr/lib/systemd/system/foremand.service":     folder + "foremand.service",
		"/usr/lib/sysusers.d/foremand.conf":            folder + "foremand.sysusers",
		"/usr/share/doc/foremand/examples/config.yaml": folder + "config.yaml",
	}
	scripts := map[string][]string{"deb": {"postinst", "prerm", "postrm"}, "rpm": {"%post", "%preun", "%postun"}}[kind]
	for i, source := range []string{"postinstall.sh", "preremove.sh", "postremove.sh"} {
		files[scripts[i]] = folder + source
	}
	return files
}

// read reads the parts of a program from the disk.
func (w Want) read(name string) (parts, error) {
	p := parts{map[string]string{}, map[string]string{}, map[string]string{}, map[string]map[string]string{}}
	var err error
	for _, kind := range []string{"deb", "rpm"} {
		p.packaged[kind] = map[string]string{}
		for file, source := range packaged(name, kind) {
			if p.packaged[kind][file], err = program.Sum(filepath.Join(w.Root, source)); err != nil {
				return parts{}, err
			}
		}
	}
	for _, text := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		if p.texts[text], err = program.Sum(filepath.Join(w.Root, text)); err != nil {
			return parts{}, err
		}
	}
	for _, shell := range manual.Shells() {
		if p.completions[shell], err = program.Sum(filepath.Join(w.Manual, "completions", name+"."+shell)); err != nil {
			return parts{}, err
		}
	}
	pages, err := filepath.Glob(filepath.Join(w.Manual, "man", name, "*.1"))
	if err != nil {
		return parts{}, err
	}
	if len(pages) == 0 {
		return parts{}, fmt.Errorf("%s has no manual page of %s: run the build", w.Manual, name)
	}
	for _, page := range pages {
		if p.pages[filepath.Base(page)], err = program.Sum(page); err != nil {
			return parts{}, err
		}
	}
	return p, nil
}

// in returns the files that a container has to have, with their SHA-256. Packages have no
// completion for PowerShell, and the licence as their only text from the archives.
func (p parts) in(c container, name, sum string) map[string]string {
	want, man := map[string]string{}, "/usr/share/man/man1/"
	switch c.kind {
	case "tar.gz", "zip":
		man = "man/man1/"
		maps.Copy(want, p.texts)
		for shell, sum := range p.completions {
			want["completions/"+name+"."+shell] = sum
		}
		if c.kind == "zip" {
			name += ".exe"
		}
		want[name] = sum
	default:
		zsh := "/usr/share/zsh/vendor-completions/_"
		if c.kind == "rpm" {
			zsh = "/usr/share/zsh/site-functions/_"
		}
		want["/usr/share/bash-completion/completions/"+name] = p.completions["bash"]
		want["/usr/share/fish/vendor_completions.d/"+name+".fish"] = p.completions["fish"]
		want[zsh+name] = p.completions["zsh"]
		want["/usr/share/doc/"+name+"/copyright"] = p.texts["LICENSE"]
		want["/usr/bin/"+name] = sum
		maps.Copy(want, p.packaged[c.kind])
	}
	for page, sum := range p.pages {
		want[man+page] = sum
	}
	return want
}

// A file is a file in a container, or a script of a package.
type file struct {
	sum  string      // SHA-256
	mode fs.FileMode // 0 for the scripts of an RPM package, which have none
}

// mode returns the mode that a file of a package has to have; 0: any.
func (c container) mode(name string) fs.FileMode {
	switch {
	case c.kind == "deb" && !path.IsAbs(name), strings.HasPrefix(name, "/usr/bin/"):
		return 0o755
	case path.IsAbs(name):
		return 0o644
	default:
		return 0
	}
}

// compare reports how the files in a container differ from those that it has to have.
func (d *Dist) compare(ctx context.Context, c container, want map[string]string) error {
	if d.files[c.file] == "" {
		return fmt.Errorf("%s is missing", c.file)
	}
	found, err := read(ctx, c.kind, d.files[c.file])
	if err != nil {
		return fmt.Errorf("read %s: %w", c.file, err)
	}
	var mistakes []error
	for _, name := range slices.Sorted(maps.Keys(want)) {
		got, ok := found[name]
		mode := c.mode(name)
		switch {
		case !ok:
			mistakes = append(mistakes, fmt.Errorf("%s has no %s", c.file, name))
		case got.sum != want[name]:
			mistakes = append(mistakes, fmt.Errorf("%s in %s has the SHA-256 %s, our own %s", name, c.file, got.sum, want[name]))
		case mode != 0 && got.mode != mode:
			mistakes = append(mistakes, fmt.Errorf("%s in %s has the mode %04o, want %04o", name, c.file, got.mode, mode))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if want[name] == "" {
			mistakes = append(mistakes, fmt.Errorf("%s has %s, which does not belong there", c.file, name))
		}
	}
	return errors.Join(mistakes...)
}

// read returns the files in a container by name. Those of a package have the absolute path where
// they are installed; its scripts have the names that dpkg and rpm use, such as postinst and %post.
func read(ctx context.Context, kind, name string) (map[string]file, error) {
	switch kind {
	case "zip":
		return readZip(name)
	case "deb":
		return readDeb(ctx, name)
	case "rpm":
		return readRPM(ctx, name)
	default:
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, err
		}
		return readTar(z)
	}
}

func readTar(in io.Reader) (map[string]file, error) {
	found := map[string]file{}
	for r := tar.NewReader(in); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if found[h.Name], err = newFile(r, h.FileInfo().Mode()); err != nil {
			return nil, err
		}
	}
}

func readZip(name string) (map[string]file, error) {
	z, err := zip.OpenReader(name)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	found := map[string]file{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		found[f.Name], err = newFile(r, f.Mode())
		if err := errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// readDeb reads the scripts and the files of a Debian package. It leaves out the description of the
// package and the checksums.
func readDeb(ctx context.Context, name string) (map[string]file, error) {
	control, err := output(ctx, nil, "dpkg-deb", "--ctrl-tarfile", name)
	if err != nil {
		return nil, err
	}
	scripts, err := readTar(bytes.NewReader(control))
	if err != nil {
		return nil, err
	}
	data, err := output(ctx, nil, "dpkg-deb", "--fsys-tarfile", name)
	if err != nil {
		return nil, err
	}
	files, err := readTar(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	all := installed(files)
	for name, f := range scripts {
		if name = path.Clean(name); name != "control" && name != "md5sums" {
			all[name] = f
		}
	}
	return all, nil
}

// readRPM reads the scripts and the files of an RPM package.
func readRPM(ctx context.Context, name string) (map[string]file, error) {
	in, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := output(ctx, in, "rpm2archive", "--nocompression", "-")
	if err != nil {
		return nil, err
	}
	files, err := readTar(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	all := installed(files)
	for script, tag := range map[string]string{
		"%pre": "PREIN", "%post": "POSTIN", "%preun": "PREUN", "%postun": "POSTUN", "%pretrans": "PRETRANS", "%posttrans": "POSTTRANS",
	} {
		text, err := output(ctx, nil, "rpm", "--query", "--nosignature", "--queryformat", "%|"+tag+"?{%{"+tag+"}}|", "--package", name)
		if err != nil {
			return nil, err
		}
		if len(text) == 0 {
			continue
		}
		if all[script], err = newFile(bytes.NewReader(text), 0); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// output runs a tool of packages, and returns what it prints.
func output(ctx context.Context, in io.Reader, tool string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, tool, args...)
	var out, problem bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = in, &out, &problem
	err := c.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%w; install the packages dpkg and rpm", err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %s", tool, err, strings.TrimSpace(problem.String()))
	}
	return out.Bytes(), nil
}

// installed returns the files of a package by their absolute paths.
func installed(found map[string]file) map[string]file {
	absolute := map[string]file{}
	for name, f := range found {
		absolute[path.Join("/", name)] = f
	}
	return absolute
}

func newFile(r io.Reader, mode fs.FileMode) (file, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return file{}, err
	}
	return file{hex.EncodeToString(h.Sum(nil)), mode.Perm()}, nil
}
