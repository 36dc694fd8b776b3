package contents

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
		"/usr/share/doc/foremand/examples/config.yaml": "testdata/demo/config.yaml",
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
func read(kind, name string) (map[string]file, error) {
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

func readTar(r io.Reader) (map[string]file, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	found := map[string]file{}
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

// readDeb reads the archives control.tar.gz and data.tar.gz within a Debian package. Of the first,
// it leaves out the description of the package and the checksums.
func readDeb(r *bufio.Reader) (map[string]file, error) {
	if magic, err := r.Peek(8); err != nil || string(magic) != "!<arch>\n" {
		return nil, errors.New("it is no Debian package")
	}
	members := ar.NewReader(r)
	all := map[string]file{}
	for {
		h, err := members.Next()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it has no data.tar.gz")
		}
		if err != nil {
			return nil, err
		}
		switch strings.TrimSuffix(h.Name, "/") {
		case "control.tar.gz":
			found, err := readTar(members)
			if err != nil {
				return nil, fmt.Errorf("read control.tar.gz: %w", err)
			}
			for name, f := range found {
				all[path.Clean(name)] = f
			}
			delete(all, "control")
			delete(all, "md5sums")
		case "data.tar.gz":
			found, err := readTar(members)
			maps.Copy(all, installed(found))
			return all, err
		}
	}
}

// readRPM reads the second header of an RPM package, which has its scripts, and the cpio archive
// that follows it.
func readRPM(r *bufio.Reader) (map[string]file, error) {
	const lead = 96
	if magic, err := r.Peek(4); err != nil || string(magic) != "\xed\xab\xee\xdb" {
		return nil, errors.New("it is no RPM package")
	}
	if _, err := r.Discard(lead); err != nil {
		return nil, err
	}
	var found map[string]file
	for _, align := range []int64{8, 1} { // the header of signatures is padded, the other one is not
		var err error
		if found, err = readHeader(r, align); err != nil {
			return nil, fmt.Errorf("read a header: %w", err)
		}
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	files := map[string]file{}
	for r := cpio.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			maps.Copy(found, installed(files))
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		if !h.Mode.IsRegular() {
			continue
		}
		if files[h.Name], err = newFile(r, fs.FileMode(h.Mode.Perm())); err != nil {
			return nil, err
		}
	}
}

// readHeader reads a header of an RPM package, and returns the scripts in it.
func readHeader(r io.Reader, align int64) (map[string]file, error) {
	const entry = 16 // bytes of an entry of the index: tag, type, offset, count
	var intro [16]byte
	if _, err := io.ReadFull(r, intro[:]); err != nil {
		return nil, err
	}
	entries, data := int64(binary.BigEndian.Uint32(intro[8:])), int64(binary.BigEndian.Uint32(intro[12:]))
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, (entries*entry+data+align-1)/align*align); err != nil {
		return nil, err
	}
	index, store := b.Bytes()[:entries*entry], b.Bytes()[entries*entry:]
	names := map[uint32]string{
		1023: "%pre", 1024: "%post", 1025: "%preun", 1026: "%postun", 1151: "%pretrans", 1152: "%posttrans",
	}
	found := map[string]file{}
	for e := range slices.Chunk(index, entry) {
		name, at := names[binary.BigEndian.Uint32(e)], int64(binary.BigEndian.Uint32(e[8:]))
		if name == "" {
			continue
		}
		if at > int64(len(store)) {
			return nil, fmt.Errorf("%s is outside of the header", name)
		}
		text, _, _ := bytes.Cut(store[at:], []byte{0})
		var err error
		if found[name], err = newFile(bytes.NewReader(text), 0); err != nil {
			return nil, err
		}
	}
	return found, nil
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
