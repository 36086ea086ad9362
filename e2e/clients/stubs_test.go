package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The commands of docs/clients.md generate stubs from a separate copy of proto/. Commands whose tool is not installed are skipped, but at
// least one must run, because scripts/install-examples needs it, too.
func TestStubsAreMadeAsDocumented(t *testing.T) {
	examples := built(t)
	text, err := os.ReadFile("../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := filepath.Abs("../../.cache/bin")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", strings.Join([]string{tools, filepath.Join(examples, "typescript", "node_modules", ".bin"), os.Getenv("PATH")}, ":"))
	made := 0
	for _, block := range regexp.MustCompile("(?ms)^```shell\n(.*?)^```").FindAllSubmatch(text, -1) {
		command := string(block[1])
		if !works(command) {
			t.Logf("left out, because its tool is not here: %s", command)
			continue
		}
		dir := t.TempDir()
		if err := os.CopyFS(filepath.Join(dir, "proto"), os.DirFS("../../proto")); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, "gen"), 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-ec", command)
		cmd.Dir = dir
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s\n%v\n%s", command, err, said)
			continue
		}
		if stubs, err := filepath.Glob(filepath.Join(dir, "gen", "domtap", "v1", "dom*")); err != nil || len(stubs) == 0 {
			t.Errorf("%s\nmade no stubs", command)
		}
		made++
	}
	if made == 0 {
		t.Error("no command was run")
	}
}

// works reports whether the tools of a command are installed.
func works(command string) bool {
	if strings.Contains(command, "grpc_tools") {
		return exec.Command("python3", "-c", "import grpc_tools.protoc").Run() == nil
	}
	for _, tool := range []string{"buf", "protoc", "grpc_python_plugin", "protoc-gen-ts_proto"} {
		if _, err := exec.LookPath(tool); err != nil && regexp.MustCompile(`(^|[ (])`+tool+`([ )]|$)`).MatchString(command) {
			return false
		}
	}
	return true
}
