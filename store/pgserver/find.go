package pgserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MinMajor is the oldest major version of Postgres that Holdfast runs on.
const MinMajor = 15

// Binaries is a folder with the programs of a Postgres server.
type Binaries struct {
	// Dir holds initdb and postgres, links resolved.
	Dir string
	// Major and Minor are the version, for example 15 and 18.
	Major, Minor int
}

// places are where the packages of the usual systems put a server that is not on PATH.
var places = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/usr/libexec/postgresql*",
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
	"/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
	"/usr/local/pgsql/bin",
}

// Find looks for a Postgres server of version 15 or newer: in binDir alone if it is named, else the newest of those on
// PATH, where pg_config points and in the folders of the usual packages, else in .cache/postgres. If dir, a data
// directory, already holds a cluster, only its own major version is taken. The error is one line that says what to
// type on this system.
func Find(ctx context.Context, dir, binDir string) (Binaries, error) {
	s := search{bin: binDir}
	if dir != "" {
		folder := filepath.Join(dir, "pg")
		s.cluster = filepath.Join(folder, "data")
		var err error
		if s.account, err = accountFor(folder); err != nil {
			return Binaries{}, err
		}
	}
	return find(ctx, s)
}

type search struct {
	bin     string // the only folder to look in, if named
	cluster string // an existing cluster decides the version
	account *account
}

func find(ctx context.Context, s search) (Binaries, error) {
	want, err := majorOf(s.cluster)
	if err != nil {
		return Binaries{}, err
	}
	tiers := [][]string{{s.bin}}
	if s.bin == "" {
		tiers = [][]string{installed(ctx), downloaded()}
	}
	var (
		others []string
		why    error
	)
	for _, tier := range tiers {
		var usable []Binaries
		for _, c := range tier {
			b, err := ask(ctx, c, s.account)
			switch {
			case err != nil:
				why = cmp.Or(why, err)
			case want != 0 && b.Major != want, b.Major < MinMajor:
				others = append(others, strconv.Itoa(b.Major))
			default:
				usable = append(usable, b)
			}
		}
		if len(usable) > 0 {
			// MaxFunc takes the first of equals, so PATH goes before the other places.
			return slices.MaxFunc(usable, func(a, b Binaries) int {
				return cmp.Or(cmp.Compare(a.Major, b.Major), cmp.Compare(a.Minor, b.Minor))
			}), nil
		}
	}
	if s.bin != "" && why != nil {
		return Binaries{}, fmt.Errorf("HOLDFAST_PG_BIN names %s, which can't be used: %w", s.bin, why)
	}
	found := "none was found"
	if len(others) > 0 {
		slices.Sort(others)
		found = "found only " + strings.Join(slices.Compact(others), ", ")
	} else if why != nil {
		found = why.Error()
	}
	if want != 0 {
		return Binaries{}, fmt.Errorf("the data in %s need PostgreSQL %d (%s); install it: %s; or name its folder in HOLDFAST_PG_BIN",
			s.cluster, want, found, installLine(want))
	}
	return Binaries{}, fmt.Errorf("no PostgreSQL %d or newer (%s); type: %s; or, without the right to install: make postgres",
		MinMajor, found, installLine(0))
}

// majorOf reads which version made a cluster; 0 if there is none.
func majorOf(cluster string) (int, error) {
	if cluster == "" {
		return 0, nil
	}
	text, err := os.ReadFile(filepath.Join(cluster, "PG_VERSION"))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the version of the data: %w", err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("read the version of the data in %s: %w", cluster, err)
	}
	return major, nil
}

// installed lists the folders where packages put a server.
func installed(ctx context.Context) []string {
	var patterns []string
	if p, err := exec.LookPath("postgres"); err == nil {
		if p, err := filepath.EvalSymlinks(p); err == nil {
			patterns = append(patterns, filepath.Dir(p))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		patterns = append(patterns, strings.TrimSpace(string(out)))
	}
	return serverFolders(append(patterns, places...))
}

// downloaded lists the folders where `make postgres` put a server. It has fewer tools, so what is installed goes first.
func downloaded() []string {
	var patterns []string
	for _, root := range downloadRoots() {
		patterns = append(patterns, filepath.Join(root, ".cache", "postgres", "*", "native", "bin"))
	}
	return serverFolders(patterns)
}

func serverFolders(patterns []string) []string {
	var found []string
	for _, pattern := range patterns {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			continue // a folder with a bracket in its name
		}
		for _, m := range matches {
			if dir, err := filepath.EvalSymlinks(m); err == nil && !slices.Contains(found, dir) && hasServer(dir) {
				found = append(found, dir)
			}
		}
	}
	return found
}

// downloadRoots are the folders under which `make postgres` may have put a server: the working folder, the module
// around it (tests run in the folder of their package), and the folder above the one of the program.
func downloadRoots() []string {
	var roots []string
	if wd, err := os.Getwd(); err == nil {
		roots = append(roots, wd)
		for dir := wd; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				roots = append(roots, dir)
				break
			}
		}
	}
	if exe, err := os.Executable(); err == nil {
		if exe, err := filepath.EvalSymlinks(exe); err == nil && filepath.Base(filepath.Dir(exe)) == "bin" {
			roots = append(roots, filepath.Dir(filepath.Dir(exe)))
		}
	}
	return roots
}

func hasServer(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}

var versionText = regexp.MustCompile(`\(PostgreSQL\) (\d+)(?:\.(\d+))?`)

// ask runs the server's program as the user that will run it, so that a folder which that user can't enter is seen now.
func ask(ctx context.Context, dir string, a *account) (Binaries, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Binaries{}, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return Binaries{}, err
	}
	if !hasServer(dir) {
		return Binaries{}, fmt.Errorf("%s lacks initdb or postgres", dir)
	}
	if err := a.reaches(dir, "install PostgreSQL with the system's packages: "+installLine(0)); err != nil {
		return Binaries{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version")
	cmd.Dir = "/"
	cmd.Env = environment()
	runAs(cmd, a)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return Binaries{}, fmt.Errorf("%s does not run: %w: %s", cmd.Path, err, lastLine(string(out)))
	}
	m := versionText.FindStringSubmatch(string(out))
	if m == nil {
		return Binaries{}, fmt.Errorf("%s names no version: %q", cmd.Path, out)
	}
	b := Binaries{Dir: dir}
	b.Major, err = strconv.Atoi(m[1])
	if err == nil && m[2] != "" { // a beta has no minor
		b.Minor, err = strconv.Atoi(m[2])
	}
	return b, err
}

// installLine is what to type on this system to get a server; major 0 means the usual one.
func installLine(major int) string {
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		release = nil // not a system with that file
	}
	return installLineFor(runtime.GOOS, string(release), os.Geteuid() == 0, major)
}

var releaseID = regexp.MustCompile(`(?m)^ID(?:_LIKE)?="?([^"\n]*)`)

func installLineFor(system, release string, root bool, major int) string {
	sudo := "sudo "
	if root {
		sudo = ""
	}
	if system == "darwin" {
		if major == 0 {
			major = 17
		}
		return fmt.Sprintf("brew install postgresql@%d", major)
	}
	version := ""
	if major != 0 {
		version = strconv.Itoa(major)
	}
	var ids []string
	for _, m := range releaseID.FindAllStringSubmatch(release, -1) {
		ids = append(ids, strings.Fields(m[1])...)
	}
	for _, id := range ids {
		switch id {
		case "debian", "ubuntu":
			if version != "" {
				version = "-" + version
			}
			return sudo + "apt-get install -y postgresql" + version
		case "fedora", "rhel", "centos":
			return fmt.Sprintf("%sdnf install -y postgresql%[2]s-server postgresql%[2]s-contrib", sudo, version)
		case "arch":
			return sudo + "pacman -S --noconfirm postgresql"
		case "alpine":
			return fmt.Sprintf("%sapk add postgresql%[2]s postgresql%[2]s-client postgresql%[2]s-contrib", sudo, version)
		}
	}
	return "make postgres"
}
