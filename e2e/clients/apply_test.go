package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// The three implementations apply the same diffs with the same result, and reject the same diffs.
func TestClientsApplyAlike(t *testing.T) {
	examples := built(t)
	const file = "testdata/apply.json"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name, Want string
		Diff       json.RawMessage
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	answers := map[string][]string{
		"python":     run(t, filepath.Join(examples, "python", "python"), "testdata/apply.py", file),
		"typescript": run(t, testenv.Node(t), "testdata/apply.mjs", file, filepath.Join(examples, "typescript")),
	}
	for _, c := range cases {
		answers["go"] = append(answers["go"], applied(t, c.Diff))
	}
	for language, got := range answers {
		if len(got) != len(cases) {
			t.Fatalf("%s answers %d of %d", language, len(got), len(cases))
		}
		for i, c := range cases {
			if got[i] != c.Want {
				t.Errorf("%s, %s: got %q, want %q", language, c.Name, got[i], c.Want)
			}
		}
	}
}

// run runs a program and returns its lines.
func run(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", args, err, said.String())
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

func applied(t *testing.T, text json.RawMessage) string {
	t.Helper()
	var old []*domtapv1.Element
	for i, name := range []string{"a", "b", "c", "d"} {
		old = append(old, &domtapv1.Element{Ref: uint32(i), Index: int32(i), Text: name})
	}
	d := new(domtapv1.Diff)
	if err := protojson.Unmarshal(text, d); err != nil {
		t.Fatal(err)
	}
	now, err := client.Apply(old, d)
	if errors.Is(err, client.ErrMismatch) {
		return "mismatch"
	}
	words := make([]string, len(now))
	for i, e := range now {
		words[i] = fmt.Sprintf("%d %s", e.GetRef(), e.GetText())
	}
	return strings.Join(words, ", ")
}
