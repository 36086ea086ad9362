package manual

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func tree() *cobra.Command {
	root := &cobra.Command{Use: "tool", Short: "Does things", Long: "It does things.\n.not a macro\n\n  literal \\ -x"}
	child := &cobra.Command{Use: "run NAME", Short: "Runs", Example: "  tool run 'a'", Run: func(*cobra.Command, []string) {}}
	child.Flags().StringP("file", "f", "x.txt", "the `PATH` to read [$TOOL_FILE]")
	_ = child.Flags().SetAnnotation("file", "env", []string{"TOOL_FILE"})
	child.Flags().Bool("secret", false, "hidden")
	_ = child.Flags().MarkHidden("secret")
	root.AddCommand(child, &cobra.Command{Use: "ghost", Hidden: true, Run: func(*cobra.Command, []string) {}})
	return root
}

func write(t *testing.T, cmd *cobra.Command) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, cmd, Header{Version: "v1", Date: "2026-01-02", Env: "env"}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAPageSaysWhatTheCommandSays(t *testing.T) {
	all := Pages(tree())
	if len(all) != 2 || Name(all[1]) != "tool-run" {
		t.Fatalf("got %v", all)
	}
	want := `.TH "TOOL\-RUN" "1" "2026\-01\-02" "domtap v1" "domtap"
.SH "NAME"
tool\-run \- Runs
.SH "SYNOPSIS"
.B "tool run NAME [flags]"
.SH "OPTIONS"
.TP
.B "\-f, \-\-file PATH"
the PATH to read (default: x.txt)
.br
Environment: TOOL_FILE
.SH "EXAMPLES"
.nf
  tool run 'a'
.fi
.SH "SEE ALSO"
.B "tool"
(1)
`
	if got := write(t, all[1]); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := write(t, all[0]); !strings.Contains(got, "\n\\&.not a macro\n") || !strings.Contains(got, ".nf\n  literal \\e \\-x\n.fi\n") || strings.Contains(got, "ghost") {
		t.Errorf("got\n%s", got)
	}
}

func TestThePagesAreGoodRoff(t *testing.T) {
	path, err := exec.LookPath("mandoc")
	args := []string{"-T", "lint", "-W", "error"}
	if err != nil {
		if path, err = exec.LookPath("groff"); err != nil {
			t.Skip("neither mandoc nor groff is installed")
		}
		args = []string{"-man", "-ww", "-z", "-b"}
	}
	for _, cmd := range Pages(tree()) {
		run := exec.CommandContext(t.Context(), path, args...)
		run.Stdin = strings.NewReader(write(t, cmd))
		if out, err := run.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v: %s", Name(cmd), err, out)
		}
	}
}
