package ecosystem

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// A toolchain is an ecosystem that is detected by the names of files, and by one pattern in its
// manifest.
type toolchain struct {
	manager   string
	manifests []string // files that make a folder a package, such as "mix.exs" or "*.csproj"; the first is read
	// roots are manifests whose folder builds the packages in the folders below it; empty: none does.
	roots []string
	// locks are the files that pin the dependencies. If there are none, the manifests pin them.
	locks []string
	// needs matches a manifest that declares dependencies from the network.
	needs    *regexp.Regexp
	one      bool   // the commands work only if the folder has one manifest
	alone    bool   // used only if no other ecosystem of the folder has a command
	setup    string // empty: there is nothing to install
	env      []string
	commands []check
}

// A check is a command of a toolchain.
type check struct {
	step
	files   []string       // it is run if one of them exists; empty: always
	without []string       // it is not run if one of them exists
	recipe  *regexp.Regexp // it is run if the manifest matches; nil: always
}

// toolchains returns the toolchains, in the order of their commands.
func toolchains() []toolchain {
	return []toolchain{
		{
			manager: "dotnet", manifests: []string{"*.sln", "*.slnx", "*.csproj", "*.fsproj", "*.vbproj"}, roots: []string{"*.sln", "*.slnx"}, one: true,
			setup: "dotnet restore",
			env:   []string{"DOTNET_NOLOGO=1", "DOTNET_CLI_TELEMETRY_OPTOUT=1", "DOTNET_ROLL_FORWARD=Major"},
			commands: []check{
				{step: step{typecheck, "dotnet build --no-restore"}},
				{step: step{test, "dotnet test --no-build"}},
			},
		},
		{
			manager: "bundler", manifests: []string{"Gemfile"}, locks: []string{"Gemfile.lock"}, needs: regexp.MustCompile(`(?m)^\s*(gem|gemspec)\b`),
			setup: "bundle install",
			env:   []string{"BUNDLE_FROZEN=true", "BUNDLE_PATH=vendor/bundle"},
			commands: []check{
				{step: step{lint, "bundle exec rubocop"}, files: []string{".rubocop.yml"}},
				{step: step{test, "bundle exec rspec"}, files: []string{".rspec", "spec/spec_helper.rb"}},
				{step: step{test, "bundle exec rake"}, files: []string{"Rakefile"}, without: []string{".rspec", "spec/spec_helper.rb"}},
			},
		},
		{
			manager: "composer", manifests: []string{"composer.json"}, locks: []string{"composer.lock"}, needs: regexp.MustCompile(`"require(-dev)?"\s*:\s*\{[^}]*"[^"]*/`),
			setup: "composer install --no-interaction --no-progress --no-scripts --no-plugins",
			commands: []check{
				{step: step{lint, "vendor/bin/phpstan analyse --no-progress"}, files: []string{"phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"}},
				{step: step{test, "vendor/bin/phpunit"}, files: []string{"phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"}, without: []string{"tests/Pest.php"}},
				{step: step{test, "vendor/bin/pest"}, files: []string{"tests/Pest.php"}},
			},
		},
		{
			manager: "mix", manifests: []string{"mix.exs"}, roots: []string{"mix.exs"}, locks: []string{"mix.lock"}, needs: regexp.MustCompile(`\{:\w+,\s*("|git|github|hex)`),
			setup: "mix do local.hex --force + local.rebar --force + deps.get --check-locked",
			env:   []string{"MIX_ENV=test"},
			commands: []check{
				{step: step{lint, "mix format --check-formatted"}, files: []string{".formatter.exs"}},
				{step: step{test, "mix test"}},
			},
		},
		{
			manager: "swift", manifests: []string{"Package.swift"}, locks: []string{"Package.resolved"}, needs: regexp.MustCompile(`\.package\(\s*(name:[^,)]*,\s*)?(url|id):`),
			setup: "swift package resolve --force-resolved-versions",
			commands: []check{
				{step: step{typecheck, "swift build --skip-update"}},
				{step: step{test, "swift test --skip-update"}},
			},
		},
		{
			manager: "deno", manifests: []string{"deno.json", "deno.jsonc"}, roots: []string{"deno.json", "deno.jsonc"}, locks: []string{"deno.lock"}, needs: regexp.MustCompile(`"(jsr|npm|https?):`),
			setup: "deno install --frozen",
			commands: []check{
				{step: step{lint, "deno lint"}, recipe: regexp.MustCompile(`"lint"\s*:`)},
				{step: step{test, "deno test --allow-all --cached-only --permit-no-files"}},
			},
		},
		{
			manager: "cmake", manifests: []string{"CMakeLists.txt"}, alone: true,
			setup: "cmake -S . -B .contribflow-build",
			commands: []check{
				{step: step{typecheck, "cmake --build .contribflow-build"}},
				{step: step{test, "ctest --test-dir .contribflow-build --output-on-failure"}},
			},
		},
		{
			manager: "just", manifests: []string{"justfile", ".justfile", "Justfile"}, alone: true,
			commands: []check{
				{step: step{lint, "just lint"}, recipe: recipe("lint")},
				{step: step{typecheck, "just check"}, recipe: recipe("check")},
				{step: step{test, "just test"}, recipe: recipe("test")},
			},
		},
	}
}

// recipe returns a pattern for a recipe of a justfile.
func recipe(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^@?` + name + `(\s[^:\n]*)?:([^=]|$)`)
}

// detect returns the unit of a folder.
func (t toolchain) detect(s *source, o Options, dir string) (unit, bool) {
	file, ok := s.has(dir, t.manifests...)
	if !ok {
		return unit{}, false
	}
	u := unit{manager: t.manager, env: t.env}
	if t.member(s, dir) {
		return u, true
	}
	if found := s.all(dir, t.manifests...); t.one && len(found) > 1 {
		s.warn("%s is one of %d projects in its folder. None of them is validated, because %q refuses several", file, len(found), t.setup)
		return u, true
	}
	var manifest []byte
	if t.needs != nil || slices.ContainsFunc(t.commands, func(c check) bool { return c.recipe != nil }) {
		manifest = s.text(file, maxManifest)
	}
	for _, c := range t.commands {
		if len(c.files) > 0 && !s.any(dir, c.files...) || s.any(dir, c.without...) || c.recipe != nil && !c.recipe.Match(manifest) {
			continue
		}
		u.commands = append(u.commands, c.step)
	}
	if t.setup != "" {
		l := t.lock(s, o, dir)
		l.needed = t.needs != nil && t.needs.Match(manifest)
		if u.setup = l.setup(o, dir, t.setup); u.setup != nil {
			u.setup.Env = t.env
		}
	}
	return u, true
}

// member reports whether a project above a folder builds it.
func (t toolchain) member(s *source, dir string) bool {
	if s.any(dir, t.roots...) && len(t.locks) == 0 { // a solution is no part of another one
		return false
	}
	for at := dir; at != ""; {
		at = parent(at)
		if s.any(at, t.roots...) {
			return true
		}
	}
	return false
}

// lock returns the files that pin the dependencies of a folder. Manifests in the folders below it
// count if the patch changes them, because the setup installs their dependencies, too.
func (t toolchain) lock(s *source, o Options, dir string) lock {
	l := lock{wanted: strings.Join(t.locks, " or "), files: s.all(dir, t.locks...)}
	if len(t.locks) > 0 {
		return l
	}
	l.files = s.all(dir, t.manifests...)
	for _, file := range o.Changed {
		if (dir == "" || strings.HasPrefix(file, dir+"/")) && pins(path.Base(file), t.manifests) {
			l.files = append(l.files, file)
		}
	}
	return l
}

// pins reports whether the name of a file pins dependencies: it is a manifest, or one of the files
// that .NET reads beside a project.
func pins(name string, manifests []string) bool {
	shared := []string{"packages.lock.json", "global.json", "nuget.config", "directory.packages.props", "directory.build.props"}
	return slices.Contains(shared, strings.ToLower(name)) && slices.Contains(manifests, "*.csproj") ||
		slices.ContainsFunc(manifests, func(m string) bool {
			ext, glob := strings.CutPrefix(m, "*")
			return glob && path.Ext(name) == ext || !glob && name == m
		})
}
