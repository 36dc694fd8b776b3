package contents

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/blakesmith/ar"
	"github.com/cavaliergopher/cpio"

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
}

// read reads the parts of a program from the disk.
func (w Want) read(name string) (parts, error) {
	p := parts{map[string]string{}, map[string]string{}, map[string]string{}}
	var err error
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
// completion for PowerShell and, like other packages, the licence as their only text.
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
	}
	for page, sum := range p.pages {
		want[man+page] = sum
	}
	return want
}

// compare reports how the files in a container differ from those that it has to have.
func (d *Dist) compare(c container, want map[string]string) error {
	if d.files[c.file] == "" {
		return fmt.Errorf("%s is missing", c.file)
	}
	found, err := read(c.kind, d.files[c.file])
	if err != nil {
		return fmt.Errorf("read %s: %w", c.file, err)
	}
	var mistakes []error
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch found[name] {
		case want[name]:
		case "":
			mistakes = append(mistakes, fmt.Errorf("%s has no %s", c.file, name))
		default:
			mistakes = append(mistakes, fmt.Errorf("%s in %s has the SHA-256 %s, our own %s", name, c.file, found[name], want[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if want[name] == "" {
			mistakes = append(mistakes, fmt.Errorf("%s has %s, which does not belong there", c.file, name))
		}
	}
	return errors.Join(mistakes...)
}

// read returns the SHA-256 of the files in a container by name; those of a package by the
// absolute path where they are installed.
func read(kind, name string) (map[string]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch kind {
	case "zip":
		return readZip(name)
	case "deb":
		return readDeb(bufio.NewReader(f))
	case "rpm":
		return readRPM(bufio.NewReader(f))
	default:
		return readTar(f)
	}
}

func readTar(r io.Reader) (map[string]string, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for r := tar.NewReader(z); ; {
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
		if found[h.Name], err = sum(r); err != nil {
			return nil, err
		}
	}
}

func readZip(name string) (map[string]string, error) {
	z, err := zip.OpenReader(name)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	found := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		found[f.Name], err = sum(r)
		if err := errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// readDeb reads the archive data.tar.gz within a Debian package.
func readDeb(r *bufio.Reader) (map[string]string, error) {
	if magic, err := r.Peek(8); err != nil || string(magic) != "!<arch>\n" {
		return nil, errors.New("it is no Debian package")
	}
	members := ar.NewReader(r)
	for {
		h, err := members.Next()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it has no data.tar.gz")
		}
		if err != nil {
			return nil, err
		}
		if strings.TrimSuffix(h.Name, "/") == "data.tar.gz" {
			found, err := readTar(members)
			return installed(found), err
		}
	}
}

// readRPM reads the cpio archive that follows the lead and the two headers of an RPM package.
func readRPM(r *bufio.Reader) (map[string]string, error) {
	const lead, intro, index = 96, 16, 16
	if magic, err := r.Peek(4); err != nil || string(magic) != "\xed\xab\xee\xdb" {
		return nil, errors.New("it is no RPM package")
	}
	if _, err := r.Discard(lead); err != nil {
		return nil, err
	}
	for _, align := range []int{8, 1} { // the header of signatures is padded, the other one is not
		var head [intro]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return nil, fmt.Errorf("read a header: %w", err)
		}
		size := int(binary.BigEndian.Uint32(head[8:]))*index + int(binary.BigEndian.Uint32(head[12:]))
		if _, err := r.Discard((size + align - 1) / align * align); err != nil {
			return nil, fmt.Errorf("read a header: %w", err)
		}
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for r := cpio.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return installed(found), nil
		}
		if err != nil {
			return nil, err
		}
		if !h.Mode.IsRegular() {
			continue
		}
		if found[h.Name], err = sum(r); err != nil {
			return nil, err
		}
	}
}

// installed returns the files of a package by their absolute paths.
func installed(found map[string]string) map[string]string {
	absolute := map[string]string{}
	for name, sum := range found {
		absolute[path.Join("/", name)] = sum
	}
	return absolute
}

func sum(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
