package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// profileCanary must not occur in any file in plain text.
const profileCanary = "canary-4f1b-session-id"

// identityFile writes a new age identity to a file.
func identityFile(t *testing.T, dir, name string) string {
	t.Helper()
	made, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(made.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A login is saved under a name, another session is opened with it, and it is refreshed. Nothing of it is on the disk in plain text.
func TestProfilesAreSavedLoadedAndRefreshed(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	state := &domtapv1.StorageState{
		Cookies: []*domtapv1.Cookie{{Name: "id", Value: profileCanary, Domain: "shop.test"}},
		Origins: []*domtapv1.OriginStorage{{Origin: "https://" + profileCanary + ".test", LocalStorage: []*domtapv1.StorageEntry{{Name: "a", Value: profileCanary}}}},
	}
	daemon.answer = func(_ context.Context, r proto.Message) (proto.Message, error) {
		if r, ok := r.(*domtapv1.GetStorageStateRequest); ok {
			if r.GetSessionId() != "work" || !r.GetIndexedDb() {
				t.Errorf("asked for %v", r)
			}
			return &domtapv1.GetStorageStateResponse{State: state}, nil
		}
		return nil, nil
	}
	dir, keys := shortDir(t), t.TempDir()
	t.Setenv("TMPDIR", dir)
	key, other := identityFile(t, keys, "key.txt"), identityFile(t, keys, "other.txt")
	run := func(args ...string) result {
		cmd := daemon.at()
		cmd.env["DOMTAP_STATE_DIR"] = dir
		cmd.env["DOMTAP_PROFILE_IDENTITY"] = key
		return cmd.run(t, args...)
	}
	ok := func(args ...string) result {
		t.Helper()
		got := run(args...)
		if got.code != exit.OK || got.errors != "" {
			t.Errorf("%v: %+v", args, got)
		}
		return got
	}
	refused := func(code int, say string, args ...string) {
		t.Helper()
		if got := run(args...); got.code != code || !strings.Contains(got.errors, say) || strings.Contains(got.errors, profileCanary) {
			t.Errorf("%v: %+v, want %d and %q", args, got, code, say)
		}
	}
	ok("profile", "save", "shop", "-s", "work")
	if got := ok("profile", "list"); !strings.HasPrefix(got.out, "PROFILE  SAVED") || !strings.Contains(got.out, "shop") || !strings.Contains(got.out, "identity") {
		t.Errorf("%s", got.out)
	}
	ok("session", "new", "again", "--profile", "shop")
	if r := daemon.last(t).(*domtapv1.CreateSessionRequest); !proto.Equal(r.GetStorageState(), state) {
		t.Errorf("the session got %v", r)
	}
	state.Cookies[0].Value += "-renewed"
	refused(exit.Precondition, "the profile exists", "profile", "save", "shop", "-s", "work")
	refused(exit.Denied, "wrong key", "profile", "refresh", "shop", "-s", "work", "--profile-identity", other)
	ok("profile", "refresh", "shop", "-s", "work")
	ok("profile", "load", "shop", "-s", "third", "--replace")
	if r := daemon.last(t).(*domtapv1.SetStorageStateRequest); r.GetSessionId() != "third" || !r.GetReplace() || !proto.Equal(r.GetState(), state) {
		t.Errorf("the session got %v", r)
	}
	refused(exit.Denied, "wrong key", "session", "new", "x", "--profile", "shop", "--profile-identity", other)
	refused(exit.NotFound, "no such profile", "session", "new", "x", "--profile", "nothing")
	refused(exit.NotFound, "no such profile", "profile", "refresh", "nothing", "-s", "work")
	refused(exit.Usage, "not a profile name", "profile", "save", "../x", "-s", "work")
	refused(exit.Usage, "exclude each other", "profile", "load", "shop", "--profile-passphrase-file", key)
	refused(exit.Usage, "none of the others", "session", "new", "x", "--profile", "shop", "--state", "f")
	nothingInClear(t, dir, profileCanary)
	ok("profile", "delete", "shop")
	refused(exit.NotFound, "no such profile", "profile", "delete", "shop")
	if got := ok("profile", "list", "--json"); got.out != "" {
		t.Errorf("%q", got.out)
	}
}

// nothingInClear searches all files below a directory for a text.
func nothingInClear(t *testing.T, dir, text string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		files++
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte(text)) {
			t.Errorf("%s has %q", path, text)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files, %v", files, err)
	}
}

// runPlain runs a command as a process of the program without the race detector.
func runPlain(t *testing.T, env map[string]string, args ...string) result {
	t.Helper()
	path, err := plainProgram()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	var out, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaints
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var ended *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), complaints.String()}
}

// A passphrase comes from the environment or from a private file, and never from an argument.
func TestKeysOfProfiles(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	dir := shortDir(t)
	file := filepath.Join(dir, "pass.txt")
	if err := os.WriteFile(file, []byte("correct horse\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(env map[string]string, args ...string) result {
		cmd := daemon.at()
		cmd.env["DOMTAP_STATE_DIR"] = dir
		for name, value := range env {
			cmd.env[name] = value
		}
		return cmd.run(t, args...)
	}
	for _, c := range []struct {
		env  map[string]string
		args []string
		code int
		say  string
	}{
		{nil, nil, exit.Usage, "missing key of profiles"},
		{map[string]string{"DOMTAP_PROFILE_PASSPHRASE": ""}, nil, exit.Usage, "the passphrase of profiles is empty"},
		{nil, []string{"--profile-passphrase-file", file}, exit.Denied, "other users may read"},
		{nil, []string{"--profile-passphrase-file", file + "x"}, exit.Usage, "no such file"},
		{map[string]string{"DOMTAP_PROFILE_IDENTITY": os.DevNull}, nil, exit.Denied, "other users may read"},
	} {
		if got := run(c.env, append([]string{"profile", "save", "p"}, c.args...)...); got.code != c.code || !strings.Contains(got.errors, c.say) {
			t.Errorf("%v %v: %+v, want %d and %q", c.env, c.args, got, c.code, c.say)
		}
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	derive := run
	if hasRaceDetector() { // it makes deriving a key from a passphrase take many seconds
		derive = func(env map[string]string, args ...string) result {
			cmd := daemon.at()
			cmd.env["DOMTAP_STATE_DIR"] = dir
			maps.Copy(cmd.env, env)
			return runPlain(t, cmd.env, args...)
		}
	}
	if got := derive(nil, "profile", "save", "p", "--profile-passphrase-file", file); got.code != exit.OK {
		t.Fatalf("%+v", got)
	}
	if got := derive(map[string]string{"DOMTAP_PROFILE_PASSPHRASE": "correct horse"}, "profile", "load", "p"); got.code != exit.OK {
		t.Errorf("%+v", got)
	}
	if got := derive(map[string]string{"DOMTAP_PROFILE_PASSPHRASE": "wrong horse"}, "profile", "load", "p"); got.code != exit.Denied || !strings.Contains(got.errors, "wrong key") || strings.Contains(got.errors, "horse") {
		t.Errorf("%+v", got)
	}
	if got := run(map[string]string{"DOMTAP_PROFILE_IDENTITY": file}, "profile", "load", "p"); got.code != exit.Usage || !strings.Contains(got.errors, "is no identity file") || strings.Contains(got.errors, "horse") {
		t.Errorf("%+v", got)
	}
}
