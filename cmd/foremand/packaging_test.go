package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPackageScripts runs the scripts of the packages with the arguments that dpkg and rpm pass, with
// stubs for the programs of systemd, and compares the calls.
func TestPackageScripts(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the packages are for Linux")
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("sh is needed, and not installed")
	}
	const (
		reload  = "systemctl daemon-reload"
		restart = "systemctl try-restart foremand.service"
		disable = "systemctl --no-reload --quiet disable foremand.service"
		stop    = "systemctl stop foremand.service"
		user    = "systemd-sysusers foremand.conf"
	)
	type host struct {
		programs []string // of systemd
		running  bool     // systemd is the running init
		fails    bool     // each call of systemctl fails
	}
	both := []string{"systemctl", "systemd-sysusers"}
	booted, failing, installed, none := host{both, true, false}, host{both, true, true}, host{both, false, false}, host{}
	tests := []struct {
		name, script string
		args         []string
		host         host
		want         []string
	}{
		{"deb: install", "postinstall.sh", []string{"configure", ""}, booted, []string{user, reload, restart}},
		{"deb: upgrade", "postinstall.sh", []string{"configure", "1.2.2"}, booted, []string{user, reload, restart}},
		{"rpm: install", "postinstall.sh", []string{"1"}, booted, []string{user, reload, restart}},
		{"rpm: upgrade", "postinstall.sh", []string{"2"}, booted, []string{user, reload, restart}},
		{"install in a container", "postinstall.sh", []string{"configure"}, installed, []string{user}},
		{"install without systemd", "postinstall.sh", []string{"configure"}, none, nil},
		{"install, systemctl fails", "postinstall.sh", []string{"configure"}, failing, []string{user, reload, restart}},

		{"deb: upgrade, before", "preremove.sh", []string{"upgrade", "1.2.4"}, booted, nil},
		{"deb: failed upgrade", "preremove.sh", []string{"failed-upgrade", "1.2.2", "1.2.4"}, booted, nil},
		{"deb: deconfigure", "preremove.sh", []string{"deconfigure", "in-favour", "other", "1"}, booted, nil},
		{"rpm: upgrade, before", "preremove.sh", []string{"1"}, booted, nil},
		{"deb: remove", "preremove.sh", []string{"remove"}, booted, []string{disable, stop}},
		{"rpm: remove", "preremove.sh", []string{"0"}, booted, []string{disable, stop}},
		{"remove in a container", "preremove.sh", []string{"remove"}, installed, []string{disable}},
		{"remove without systemd", "preremove.sh", []string{"remove"}, none, nil},
		{"remove, systemctl fails", "preremove.sh", []string{"0"}, failing, []string{disable, stop}},

		{"deb: removed", "postremove.sh", []string{"remove"}, booted, []string{reload}},
		{"deb: purged", "postremove.sh", []string{"purge"}, booted, []string{reload}},
		{"rpm: removed", "postremove.sh", []string{"0"}, booted, []string{reload}},
		{"removed in a container", "postremove.sh", []string{"remove"}, installed, nil},
		{"removed, systemctl fails", "postremove.sh", []string{"purge"}, failing, []string{reload}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			log := filepath.Join(dir, "log")
			for _, name := range tt.host.programs {
				stub := "#!" + shell + "\necho " + name + ` "$@" >>` + log + "\n"
				if tt.host.fails && name == "systemctl" {
					stub += "exit 1\n"
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(stub), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			init := filepath.Join(dir, "absent")
			if tt.host.running {
				init = dir
			}
			script := strings.ReplaceAll(read(t, filepath.Join("packaging", tt.script)), "/run/systemd/system", init)
			cmd := exec.CommandContext(t.Context(), shell, slices.Concat([]string{"-c", script, tt.script}, tt.args)...)
			cmd.Env = []string{"PATH=" + dir}
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("got %v and the output %q, want neither", err, out)
			}
			calls, err := os.ReadFile(log)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			got := strings.Split(strings.TrimSuffix(string(calls), "\n"), "\n")
			if len(calls) == 0 {
				got = nil
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPackageUser lets systemd-sysusers create the user, where that is installed, and compares it with
// the unit.
func TestPackageUser(t *testing.T) {
	t.Parallel()
	sysusers, err := exec.LookPath("systemd-sysusers")
	if err != nil {
		t.Skip("systemd-sysusers is needed, and not installed")
	}
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "etc"), 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs("packaging/foremand.sysusers")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), sysusers, "--root="+root, file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	unit := settings(t, read(t, "packaging/foremand.service"))
	var found bool
	for line := range strings.Lines(read(t, filepath.Join(root, "etc/passwd"))) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if fields[0] != unit["User"] {
			continue
		}
		found = true
		if home := "/var/lib/" + unit["StateDirectory"]; fields[5] != home || !strings.HasSuffix(fields[6], "/nologin") {
			t.Errorf("got the user %q, want the home %s and no login", fields, home)
		}
	}
	if !found {
		t.Errorf("the user %s was not created\n%s", unit["User"], out)
	}
}
