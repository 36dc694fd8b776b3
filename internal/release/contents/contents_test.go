package contents_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/org/foreman-action/internal/release/contents"
	"github.com/org/foreman-action/internal/release/entry"
	"github.com/org/foreman-action/internal/release/manual"
	"github.com/org/foreman-action/internal/release/program"
)

const version = "1.2.3"

// A dist is a folder as goreleaser leaves it, of programs that are small texts.
type dist struct {
	files map[string]string // name to content
	built map[string]string // SHA-256 of our own builds
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// parts returns the files in a container of a program.
func parts(kind, name, platform string) map[string]string {
	files := map[string]string{"LICENSE": "licence", "README.md": "readme", "CHANGELOG.md": "changes"}
	program, man := name, "man/man1/"
	switch kind {
	case "zip":
		program += ".exe"
	case "deb", "rpm":
		zsh := map[string]string{"deb": "vendor-completions", "rpm": "site-functions"}[kind]
		program, man = "./usr/bin/"+name, "./usr/share/man/man1/"
		files = map[string]string{
			"./usr/share/doc/" + name + "/copyright":                  "licence",
			"./usr/share/bash-completion/completions/" + name:         name + " in bash",
			"./usr/share/zsh/" + zsh + "/_" + name:                    name + " in zsh",
			"./usr/share/fish/vendor_completions.d/" + name + ".fish": name + " in fish",
		}
		if name == "foremand" {
			for file, source := range server(kind) {
				files[file] = "text of " + source
			}
		}
	}
	if kind == "zip" || kind == "tar.gz" {
		for _, shell := range manual.Shells() {
			files["completions/"+name+"."+shell] = name + " in " + shell
		}
	}
	files[program] = "code of " + name + " for " + platform
	files[man+name+".1"] = "page of " + name
	files[man+name+"-run.1"] = "page of " + name + " run"
	return files
}

// server returns the files and scripts that only the packages of foremand have, with their paths in
// the repository. The names of scripts contain no slash.
func server(kind string) map[string]string {
	files := map[string]string{
		"./usr/lib/systemd/system/foremand.service":     "cmd/foremand/packaging/foremand.service",
		"./usr/lib/sysusers.d/foremand.conf":            "cmd/foremand/packaging/foremand.sysusers",
		"./usr/share/doc/foremand/examples/config.yaml": "cmd/foremand/packaging/config.yaml",
	}
	scripts := map[string][3]string{"deb": {"postinst", "prerm", "postrm"}, "rpm": {"%post", "%preun", "%postun"}}[kind]
	for i, source := range [3]string{"postinstall.sh", "preremove.sh", "postremove.sh"} {
		files[scripts[i]] = "cmd/foremand/packaging/" + source
	}
	return files
}

// sources writes the parts of containers below a folder, as they are in the repository and as the
// build writes them.
func sources(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range program.All() {
		for name, text := range parts("tar.gz", p.Name, "") {
			if page, ok := strings.CutPrefix(name, "man/man1/"); ok {
				name = "man/" + p.Name + "/" + page
			}
			write(name, text)
		}
	}
	for _, source := range server("deb") {
		write(source, "text of "+source)
	}
	return root
}

func complete(t *testing.T) dist {
	t.Helper()
	d := dist{map[string]string{}, map[string]string{}}
	for _, p := range program.All() {
		for _, platform := range entry.Platforms() {
			file, code := entry.File(p.Name, platform), "code of "+p.Name+" for "+platform
			d.files[file], d.built[file] = code, sum(code)
			system, machine, _ := strings.Cut(platform, "-")
			d.files[file+".sbom.json"] = `{"bomFormat":"CycloneDX","metadata":{"component":{"purl":"pkg:golang/x@v1?goarch=` + machine + `&goos=` + system +
				`&type=module"}},"components":[{"name":"a","version":"v1"}]}`
			archive, short := p.Name+"_"+version+"_"+system+"_"+machine, p.Name+"_"+version+"_"+machine
			names := map[string]string{"tar.gz": archive + ".tar.gz"}
			switch system {
			case "windows":
				names = map[string]string{"zip": archive + ".zip"}
			case "linux":
				names["deb"], names["rpm"] = short+".deb", short+".rpm"
			}
			for kind, name := range names {
				d.files[name] = pack(t, kind, parts(kind, p.Name, platform))
			}
		}
	}
	return d
}

// mode returns the name and the mode of a packed file. The name may end with a mode, such as " 0600".
func mode(name string) (string, os.FileMode) {
	if name, mode, ok := strings.Cut(name, " "); ok {
		n, _ := strconv.ParseUint(mode, 8, 32)
		return name, os.FileMode(n)
	}
	if strings.HasPrefix(name, "./usr/bin/") || strings.HasPrefix(name, "p") { // postinst, prerm, postrm
		return name, 0o755
	}
	return name, 0o644
}

// split separates the scripts of a package from its files.
func split(files map[string]string) (scripts, rest map[string]string) {
	scripts, rest = map[string]string{}, map[string]string{}
	for name, text := range files {
		if strings.HasPrefix(name, "./") {
			rest[name] = text
		} else {
			scripts[name] = text
		}
	}
	return scripts, rest
}

// packed are the archives and packages that were made, by their files. The tools of packages are slow.
var packed sync.Map

// pack makes an archive or a package of files, unless it was made before.
func pack(t *testing.T, kind string, files map[string]string) string {
	t.Helper()
	key := fmt.Sprint(kind, files) // fmt sorts the keys
	if text, ok := packed.Load(key); ok {
		return text.(string)
	}
	text := newPack(t, kind, files)
	packed.Store(key, text)
	return text
}

// newPack makes an archive or a package of files.
func newPack(t *testing.T, kind string, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	fail := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	write := func(w io.Writer, text string, err error) {
		t.Helper()
		fail(err)
		_, err = io.WriteString(w, text)
		fail(err)
	}
	switch kind {
	case "zip":
		z := zip.NewWriter(&b)
		for name, text := range files {
			w, err := z.Create(name)
			write(w, text, err)
		}
		fail(z.Close())
	case "tar.gz":
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		fail(w.WriteHeader(&tar.Header{Name: "usr/", Typeflag: tar.TypeDir, Mode: 0o755}))
		for name, text := range files {
			name, mode := mode(name)
			write(w, text, w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: int64(mode)}))
		}
		fail(errors.Join(w.Close(), z.Close()))
	case "deb":
		return built(t, files, ".deb", func(folder string, scripts map[string]string) []string {
			fail(os.MkdirAll(filepath.Join(folder, "DEBIAN"), 0o755))
			scripts["control"] = "Package: x\nVersion: 1\nArchitecture: all\nMaintainer: x <x@example.com>\nDescription: x\n"
			for name, text := range scripts {
				name, mode := mode(name)
				fail(os.WriteFile(filepath.Join(folder, "DEBIAN", name), []byte(text), mode))
			}
			return []string{"dpkg-deb", "--root-owner-group", "--nocheck", "-Znone", "--build", folder}
		})
	case "rpm":
		return built(t, files, ".rpm", func(folder string, scripts map[string]string) []string {
			spec := "Name: x\nVersion: 1\nRelease: 1\nSummary: x\nLicense: x\nBuildArch: noarch\nAutoReqProv: no\n%description\nx\n"
			spec += "%install\nmkdir -p %{buildroot}\ncp -a " + folder + "/. %{buildroot}\n%files\n"
			for name := range files {
				if name, mode := mode(name); strings.HasPrefix(name, "./") {
					spec += fmt.Sprintf("%%attr(%04o, root, root) %s\n", mode, strings.TrimPrefix(name, "."))
				}
			}
			for name, text := range scripts {
				spec += name + "\n" + text + "\n"
			}
			fail(os.WriteFile(folder+".spec", []byte(spec), 0o600))
			return []string{
				"rpmbuild", "-bb", "--quiet", "--define", "_topdir " + folder + ".top", "--define", "_rpmdir " + filepath.Dir(folder),
				"--define", "_rpmfilename " + filepath.Base(folder) + ".rpm", "--define", "__os_install_post %{nil}", folder + ".spec",
			}
		})
	}
	return b.String()
}

// built makes a package of files with the tool of its kind. command returns the call of the tool; the
// files are in a folder, beside which the tool writes the package.
func built(t *testing.T, files map[string]string, end string, command func(folder string, scripts map[string]string) []string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "package")
	scripts, rest := split(files)
	for name, text := range rest {
		name, mode := mode(name)
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	args := command(folder, scripts)
	out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", args[0], err, out)
	}
	text, err := os.ReadFile(folder + end)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// change packs the files of a container again, after a change.
func (d dist) change(t *testing.T, container string, change func(map[string]string)) {
	t.Helper()
	if d.files[container] == "" {
		t.Fatalf("there is no %s", container)
	}
	name, rest, _ := strings.Cut(container, "_")
	_, rest, _ = strings.Cut(rest, "_")
	system, kind, _ := strings.Cut(rest, ".")
	platform := strings.ReplaceAll(system, "_", "-")
	if !strings.Contains(platform, "-") {
		platform = "linux-" + platform
	}
	files := parts(kind, name, platform)
	change(files)
	d.files[container] = pack(t, kind, files)
}

// write writes the folder; unlisted files are left out of the list of checksums.
func (d dist) write(t *testing.T, unlisted ...string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "dist")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	type artifact struct {
		Name     string `json:"name"`
		Path     string `json:"path"`
		Type     string `json:"type"`
		Internal int    `json:"internal_type"`
	}
	list := []artifact{{"checksums.txt", "dist/checksums.txt", "Checksum", 12}, {"foreman", "dist/none/foreman", "Binary", 4}}
	var sums strings.Builder
	for name, content := range d.files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		a := artifact{name, "dist/" + name, "Archive", 1}
		switch {
		case strings.HasSuffix(name, ".sbom.json"):
			a.Type, a.Internal = "SBOM", 30
		case strings.HasSuffix(name, ".deb"), strings.HasSuffix(name, ".rpm"):
			a.Type, a.Internal = "Linux Package", 6
		case d.built[name] != "":
			a.Type, a.Internal = "Binary", 2
		}
		list = append(list, a)
		if len(unlisted) == 0 || unlisted[0] != name {
			sums.WriteString(sum(content) + "  " + name + "\n")
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"artifacts.json": string(text), "checksums.txt": sums.String()} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestCheck(t *testing.T) {
	t.Parallel()
	root := sources(t)
	check := func(d dist, unlisted ...string) (int, error) {
		t.Helper()
		opened, err := contents.Open(d.write(t, unlisted...))
		if err != nil {
			t.Fatal(err)
		}
		return opened.Check(t.Context(), contents.Want{Version: version, Programs: d.built, Root: root, Manual: root})
	}
	d := complete(t)
	if n, err := check(d); err != nil || n != len(d.files) {
		t.Errorf("got %d files and the error %v, want %d", n, err, len(d.files))
	}
	remove := func(name string) func(map[string]string) {
		return func(files map[string]string) {
			if files[name] == "" {
				t.Fatalf("there is no %s", name)
			}
			delete(files, name)
		}
	}
	rename := func(from, to string) func(map[string]string) {
		return func(files map[string]string) {
			files[to] = files[from]
			remove(from)(files)
		}
	}
	set := func(name, text string) func(map[string]string) {
		return func(files map[string]string) { files[name] = text }
	}
	const unit = "./usr/lib/systemd/system/foremand.service"
	tests := []struct {
		name   string
		change func(dist)
		want   []string
	}{
		{"other program", func(d dist) { d.files["foreman-linux-amd64"] = "other" }, []string{"foreman-linux-amd64 has the SHA-256"}},
		{"missing files", func(d dist) {
			for _, name := range []string{"foreman_1.2.3_windows_arm64.zip", "foreman_1.2.3_amd64.deb", "foremand_1.2.3_arm64.rpm", "foreman-linux-arm64.sbom.json"} {
				delete(d.files, name)
			}
		}, []string{"foreman_1.2.3_windows_arm64.zip is missing", "foreman_1.2.3_amd64.deb is missing", "foremand_1.2.3_arm64.rpm is missing", "foreman-linux-arm64.sbom.json is missing"}},
		{"foreign file", func(d dist) { d.files["foreman_1.2.3_freebsd_amd64.tar.gz"] = "x" }, []string{"foreman_1.2.3_freebsd_amd64.tar.gz is no file of a release"}},
		{"SBOM of another platform", func(d dist) { d.files["foreman-linux-arm64.sbom.json"] = d.files["foreman-linux-amd64.sbom.json"] },
			[]string{`foreman-linux-arm64.sbom.json: it is of the program "pkg:golang/x@v1?goarch=amd64&goos=linux`}},
		{"empty SBOM", func(d dist) { d.files["foreman-linux-arm64.sbom.json"] = `{"bomFormat":"CycloneDX"}` }, []string{"foreman-linux-arm64.sbom.json: want"}},

		{"archive with another program", func(d dist) { d.change(t, "foremand_1.2.3_darwin_arm64.tar.gz", set("foremand", "other")) },
			[]string{"foremand in foremand_1.2.3_darwin_arm64.tar.gz has the SHA-256"}},
		{"archive with a foreign file", func(d dist) { d.change(t, "contribflow_1.2.3_windows_amd64.zip", set("notes.txt", "x")) },
			[]string{"contribflow_1.2.3_windows_amd64.zip has notes.txt"}},
		{"archive without a completion", func(d dist) { d.change(t, "foreman_1.2.3_linux_amd64.tar.gz", remove("completions/foreman.fish")) },
			[]string{"foreman_1.2.3_linux_amd64.tar.gz has no completions/foreman.fish"}},
		{"archive without a page of a command", func(d dist) { d.change(t, "foreman_1.2.3_linux_arm64.tar.gz", remove("man/man1/foreman-run.1")) },
			[]string{"foreman_1.2.3_linux_arm64.tar.gz has no man/man1/foreman-run.1"}},
		{"archive with another licence", func(d dist) { d.change(t, "foreman_1.2.3_windows_amd64.zip", set("LICENSE", "other")) },
			[]string{"LICENSE in foreman_1.2.3_windows_amd64.zip has the SHA-256"}},

		{"deb without its program", func(d dist) { d.change(t, "foreman_1.2.3_amd64.deb", remove("./usr/bin/foreman")) },
			[]string{"foreman_1.2.3_amd64.deb has no /usr/bin/foreman"}},
		{"deb with another program", func(d dist) { d.change(t, "foremand_1.2.3_arm64.deb", set("./usr/bin/foremand", "other")) },
			[]string{"/usr/bin/foremand in foremand_1.2.3_arm64.deb has the SHA-256"}},
		{"deb with a foreign file", func(d dist) { d.change(t, "foreman_1.2.3_amd64.deb", set("./etc/passwd", "x")) },
			[]string{"foreman_1.2.3_amd64.deb has /etc/passwd, which"}},
		{"deb without its unit", func(d dist) { d.change(t, "foremand_1.2.3_amd64.deb", remove(unit)) },
			[]string{"foremand_1.2.3_amd64.deb has no /usr/lib/systemd/system/foremand.service"}},
		{"deb with another unit", func(d dist) { d.change(t, "foremand_1.2.3_amd64.deb", set(unit, "other")) },
			[]string{"/usr/lib/systemd/system/foremand.service in foremand_1.2.3_amd64.deb has the SHA-256"}},
		{"deb with an executable unit", func(d dist) { d.change(t, "foremand_1.2.3_amd64.deb", rename(unit, unit+" 0755")) },
			[]string{"/usr/lib/systemd/system/foremand.service in foremand_1.2.3_amd64.deb has the mode 0755, want 0644"}},
		{"deb with a program that cannot run", func(d dist) {
			d.change(t, "foreman_1.2.3_amd64.deb", rename("./usr/bin/foreman", "./usr/bin/foreman 0644"))
		}, []string{"/usr/bin/foreman in foreman_1.2.3_amd64.deb has the mode 0644, want 0755"}},
		{"deb with another script", func(d dist) { d.change(t, "foremand_1.2.3_arm64.deb", set("postinst", "other")) },
			[]string{"postinst in foremand_1.2.3_arm64.deb has the SHA-256"}},
		{"deb with a script that cannot run", func(d dist) { d.change(t, "foremand_1.2.3_arm64.deb", rename("prerm", "prerm 0644")) },
			[]string{"prerm in foremand_1.2.3_arm64.deb has the mode 0644, want 0755"}},
		{"deb with a foreign script", func(d dist) { d.change(t, "contribflow_1.2.3_arm64.deb", set("preinst", "x")) },
			[]string{"contribflow_1.2.3_arm64.deb has preinst, which"}},
		{"deb of another kind", func(d dist) { d.files["foreman_1.2.3_amd64.deb"] = "text" }, []string{"foreman_1.2.3_amd64.deb: dpkg-deb: "}},
		{"deb cut off", func(d dist) { d.files["foreman_1.2.3_amd64.deb"] = d.files["foreman_1.2.3_amd64.deb"][:120] },
			[]string{"foreman_1.2.3_amd64.deb: dpkg-deb: "}},

		{"rpm without a manual page", func(d dist) {
			d.change(t, "contribflow_1.2.3_arm64.rpm", remove("./usr/share/man/man1/contribflow.1"))
		}, []string{"contribflow_1.2.3_arm64.rpm has no /usr/share/man/man1/contribflow.1"}},
		{"rpm with another program", func(d dist) { d.change(t, "foreman_1.2.3_amd64.rpm", set("./usr/bin/foreman", "other")) },
			[]string{"/usr/bin/foreman in foreman_1.2.3_amd64.rpm has the SHA-256"}},
		{"rpm without its unit", func(d dist) { d.change(t, "foremand_1.2.3_arm64.rpm", remove(unit)) },
			[]string{"foremand_1.2.3_arm64.rpm has no /usr/lib/systemd/system/foremand.service"}},
		{"rpm with an executable unit", func(d dist) { d.change(t, "foremand_1.2.3_amd64.rpm", rename(unit, unit+" 0755")) },
			[]string{"/usr/lib/systemd/system/foremand.service in foremand_1.2.3_amd64.rpm has the mode 0755, want 0644"}},
		{"rpm without a script", func(d dist) { d.change(t, "foremand_1.2.3_amd64.rpm", remove("%postun")) },
			[]string{"foremand_1.2.3_amd64.rpm has no %postun"}},
		{"rpm with exchanged scripts", func(d dist) {
			d.change(t, "foremand_1.2.3_amd64.rpm", func(files map[string]string) { files["%post"], files["%preun"] = files["%preun"], files["%post"] })
		}, []string{"%post in foremand_1.2.3_amd64.rpm has the SHA-256", "%preun in foremand_1.2.3_amd64.rpm has the SHA-256"}},
		{"rpm with a foreign script", func(d dist) { d.change(t, "foreman_1.2.3_amd64.rpm", set("%pre", "x")) },
			[]string{"foreman_1.2.3_amd64.rpm has %pre, which"}},
		{"rpm of another kind", func(d dist) { d.files["foreman_1.2.3_amd64.rpm"] = "text" }, []string{"foreman_1.2.3_amd64.rpm: rpm2archive: "}},
		{"rpm cut off", func(d dist) { d.files["foreman_1.2.3_amd64.rpm"] = d.files["foreman_1.2.3_amd64.rpm"][:120] },
			[]string{"foreman_1.2.3_amd64.rpm: rpm2archive: "}},
	}
	for _, tt := range tests {
		d := complete(t)
		tt.change(d)
		_, err := check(d)
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got the error %v, want %q in it", tt.name, err, want)
			}
		}
	}
	if _, err := check(d, "foreman_1.2.3_amd64.deb"); err == nil || !strings.Contains(err.Error(), "foreman_1.2.3_amd64.deb has the SHA-256") {
		t.Errorf("an unlisted file: got the error %v", err)
	}
}

// Without manual pages on the disk there is nothing to compare with.
func TestCheckWithoutBuild(t *testing.T) {
	t.Parallel()
	root, d := sources(t), complete(t)
	if err := os.RemoveAll(filepath.Join(root, "man", "foremand")); err != nil {
		t.Fatal(err)
	}
	opened, err := contents.Open(d.write(t))
	if err != nil {
		t.Fatal(err)
	}
	_, err = opened.Check(t.Context(), contents.Want{Version: version, Programs: d.built, Root: root, Manual: root})
	if err == nil || !strings.Contains(err.Error(), "no manual page of foremand: run the build") {
		t.Errorf("got the error %v", err)
	}
}

func TestFormula(t *testing.T) {
	t.Parallel()
	d := complete(t)
	opened, err := contents.Open(d.write(t))
	if err != nil {
		t.Fatal(err)
	}
	text, err := opened.Formula(version, "https://github.com/org/foreman-action/releases/download/v1.2.3", "https://github.com/org/foreman-action")
	if err != nil {
		t.Fatal(err)
	}
	for _, platform := range []string{"darwin_arm64", "darwin_amd64", "linux_arm64", "linux_amd64"} {
		file := "foreman_1.2.3_" + platform + ".tar.gz"
		want := "url \"https://github.com/org/foreman-action/releases/download/v1.2.3/" + file + "\"\n      sha256 \"" + sum(d.files[file]) + "\"\n"
		if !strings.Contains(text, want) {
			t.Errorf("got the formula\n%s\nwant %q in it", text, want)
		}
	}
	if _, err := opened.Formula("1.2.4", "https://github.com", ""); err == nil || !strings.Contains(err.Error(), "foreman_1.2.4_darwin_arm64.tar.gz") {
		t.Errorf("another version: got the error %v", err)
	}
}

// The published files are those that were checked, under their names, with a list of all. A draft
// with any other file is refused.
func TestCopyAndCompare(t *testing.T) {
	t.Parallel()
	d := complete(t)
	opened, err := contents.Open(d.write(t))
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "files")
	if err := opened.Copy(folder, map[string]string{"foreman.rb": "formula"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	list := string(text)
	want := d.files["foremand_1.2.3_arm64.rpm"]
	if got, err := os.ReadFile(filepath.Join(folder, "foremand_1.2.3_arm64.rpm")); err != nil || string(got) != want {
		t.Errorf("the copy of a package differs: %v", err)
	}
	if !strings.Contains(list, sum("formula")+"  foreman.rb\n") {
		t.Errorf("the list has no formula:\n%s", list)
	}
	write := func(name, text string) func(string) error {
		return func(folder string) error { return os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600) }
	}
	tests := []struct {
		name   string
		change func(folder string) error
		want   string // empty: no error
	}{
		{"complete", func(string) error { return nil }, ""},
		{"signed", write("checksums.txt.sigstore.json", "{}"), ""},
		{"another file", write("foreman-linux-amd64", "other"), "foreman-linux-amd64 has the SHA-256 " + sum("other")},
		{"a file more", write("install.sh", "other"), "install.sh is no file of this release"},
		{"a file less", func(folder string) error { return os.Remove(filepath.Join(folder, "foreman.rb")) }, "foreman.rb: no such file"},
		{"another list", write("checksums.txt", list+sum("other")+"  install.sh\n"), "checksums.txt differs"},
	}
	for _, tt := range tests {
		draft := filepath.Join(t.TempDir(), "draft")
		if err := os.CopyFS(draft, os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
		if err := tt.change(draft); err != nil {
			t.Fatal(err)
		}
		n, err := contents.Compare(draft, list)
		if tt.want == "" && (err != nil || n != len(d.files)+1) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got %d files and the error %v, want %q", tt.name, n, err, tt.want)
		}
	}
}
