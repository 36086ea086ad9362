package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/replcmd"
)

// hintOf runs an invalid command line and returns its hint. The output must be the error and one line, and never the help.
func hintOf(t *testing.T, args ...string) string {
	t.Helper()
	cmd, _ := isolated(t)
	got := cmd.run(t, args...)
	message, hint, found := strings.Cut(strings.TrimSuffix(got.errors, "\n"), "\nhint: ")
	if got.code != exit.Usage || got.out != "" || !found || !strings.HasPrefix(message, "domtap: ") || strings.Contains(message+hint, "\n") {
		t.Errorf("%q: exit code %d, it printed %q and said %q", args, got.code, got.out, got.errors)
	}
	return hint
}

// checkTypable parses a line as the program does, without running it.
func checkTypable(t *testing.T, line string) {
	t.Helper()
	words, err := replcmd.Split(line)
	if err != nil || len(words) < 2 || words[0] != "domtap" {
		t.Errorf("%q is no command line (%v)", line, err)
		return
	}
	app := newApp(nil, nil, nil, nil)
	if err := app.Check(newRoot(app, words[1:]...), words[1:]); err != nil {
		t.Errorf("%q cannot be typed: %v", line, err)
	}
}

// TestWrongFlagsOfEveryCommand passes each command an unknown flag, a misspelt flag of its own, and invalid flag values.
func TestWrongFlagsOfEveryCommand(t *testing.T) {
	forEachCommand(newRoot(newApp(nil, nil, nil, nil)), func(cmd *cobra.Command) {
		path := strings.Fields(cmd.CommandPath())[1:]
		hint := hintOf(t, append(path, "--qqzzqq")...)
		if !strings.HasPrefix(hint, "usage: "+cmd.CommandPath()) {
			t.Errorf("%v --qqzzqq: the hint is %q", path, hint)
		}
		if _, line, found := strings.Cut(hint, "for example: "); found {
			line, _, _ = strings.Cut(line, " | ")
			line, _, _ = strings.Cut(line, " < ")
			line, _, _ = strings.Cut(line, " > ")
			checkTypable(t, line)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			if short := f.Name[:len(f.Name)-1]; len(short) > 5 && cmd.Flags().Lookup(short) == nil {
				if hint := hintOf(t, append(path, "--"+short)...); !strings.HasPrefix(hint, "did you mean: ") || !strings.Contains(hint, "--") {
					t.Errorf("%v --%s: the hint is %q", path, short, hint)
				} else if line, found := strings.CutPrefix(hint, "did you mean: domtap "); found {
					checkTypable(t, "domtap "+line)
				}
			}
			if _, isChoice := f.Value.(*cli.Choice); isChoice && parses(append(path, "--"+f.Name+"="+f.DefValue)) {
				if line, found := strings.CutPrefix(hintOf(t, append(path, "--"+f.Name, "qqzzqq")...), "for example: "); !found || !strings.HasSuffix(line, " --"+f.Name+" "+f.DefValue) {
					t.Errorf("%v --%s qqzzqq: the example is %q", path, f.Name, line)
				}
			}
		})
	})
}

// parses reports whether words are a valid command line.
func parses(words []string) bool {
	app := newApp(nil, nil, nil, nil)
	return app.Check(newRoot(app, words...), words) == nil
}

// TestMisspeltNamesOfEveryCommand types each name with an additional letter, also with flags and with --help.
func TestMisspeltNamesOfEveryCommand(t *testing.T) {
	for _, cmd := range newRoot(newApp(nil, nil, nil, nil)).Commands() {
		if len(cmd.Name()) < 5 {
			continue
		}
		wrong := cmd.Name() + "x"
		for _, line := range [][]string{{wrong}, {wrong, "3", "--nth", "2"}, {wrong, "--help"}, {"help", wrong}} {
			hint := hintOf(t, line...)
			if !strings.HasPrefix(hint, "did you mean: "+cmd.CommandPath()) {
				t.Errorf("%v: the hint is %q", line, hint)
			}
		}
	}
}

func TestCommandsOfOtherProgramsAreNamed(t *testing.T) {
	root := newRoot(newApp(nil, nil, nil, nil))
	for word, line := range cli.ForeignCommands {
		if found, _, _ := root.Find([]string{word}); found != root {
			t.Errorf("%s is a command", word)
		}
		if hint := hintOf(t, word); hint != "use: "+line {
			t.Errorf("%s: the hint is %q", word, hint)
		}
		checkTypable(t, line)
	}
	for _, word := range []string{"wait-for", "executeJs", "new_tab"} {
		if hint := hintOf(t, word, "x", "--y"); !strings.HasPrefix(hint, "use: domtap ") {
			t.Errorf("%s: the hint is %q", word, hint)
		}
	}
}

func TestOneLineThatWorks(t *testing.T) {
	for line, want := range map[string]string{
		"clik":                     "did you mean: domtap click REF, for example: domtap click Pay",
		"clik 3 --nth=2":           "did you mean: domtap click 3 --nth=2",
		"clik 3 --help":            "did you mean: domtap click 3 --help",
		"clik 3 --cont 2":          "did you mean: domtap click REF, for example: domtap click Pay",
		"click 3 --cont 2":         "did you mean: domtap click 3 --count 2",
		"click 3 --cont=2":         "did you mean: domtap click 3 --count=2",
		"click --cont 2":           "did you mean: --count; usage: domtap click REF, for example: domtap click Pay",
		"help session lst":         "did you mean: domtap session list --help",
		"sesion lst --help":        "did you mean: domtap session new|login|list|",
		"tabs list":                "usage: domtap tabs",
		"session qqzzqq":           "usage: domtap session new|login|list|",
		"open":                     "usage: domtap open URL, for example: domtap open https://example.com",
		"open a b":                 "usage: domtap open URL, for example: domtap open https://example.com",
		"click":                    "usage: domtap click REF, for example: domtap click Pay",
		"click 12 --full-page":     "--full-page is a flag of another command: domtap shot ",
		"open x --wait lod":        "for example: domtap open x --wait load",
		"open x --wait=lod":        "for example: domtap open x --wait=load",
		"open x --wait":            "for example: domtap open x --wait load",
		"tabs --timeout never":     "for example: domtap tabs --timeout 30s",
		"do clik":                  "did you mean: domtap click REF, for example: domtap click Pay",
		"do navigate":              "use: domtap goto https://example.com",
		"do qqzzqq":                "run domtap --help to list the commands",
		"do open":                  "usage: domtap open URL, for example: domtap open https://example.com",
		"batch":                    "usage: domtap batch URL... | -, for example: domtap batch example.com example.org",
		"batch x.example --mode n": "for example: domtap batch x.example --mode auto",
	} {
		if hint := hintOf(t, strings.Fields(line)...); !strings.HasPrefix(hint, want) {
			t.Errorf("%s: the hint is %q, want %q", line, hint, want)
		}
	}
	for step, want := range map[string]string{
		"click 'It''s \"it\"' --cont 2": `did you mean: domtap click 'Its "it"' --count 2`,
		`fill "Ada's" "" --wthin Row`:   `did you mean: domtap fill 'Ada'\''s' '' --within Row`,
		"wait --txt Done":               "did you mean: domtap wait --text Done",
		"open x.example --qz":           "usage: domtap open URL, for example: domtap open https://example.com",
	} {
		if hint := hintOf(t, "do", step); hint != want {
			t.Errorf("do %q: the hint is %q, want %q", step, hint, want)
		}
	}
	if hint := hintOf(t, "clik", strings.Repeat("x", 1000)); hint != "did you mean: domtap click REF, for example: domtap click Pay" {
		t.Errorf("the hint of a long line is %q", hint)
	}
}

// TestReplAnswersWithOneLine types invalid lines at a prompt. The output for each is the same as on the command line.
func TestReplAnswersWithOneLine(t *testing.T) {
	cmd, _ := isolated(t)
	cmd.in = "clik 3\nnavigate x.example\nopen\nclick 3 --cont 2\n"
	got := cmd.run(t, "repl", "--keep-going")
	for _, want := range []string{
		"did you mean: domtap click 3\n", "use: domtap goto https://example.com\n", "usage: domtap open URL, for example: domtap open https://example.com\n",
		"did you mean: domtap click 3 --count 2\n",
	} {
		if !strings.Contains(got.errors, "\nhint: "+want) {
			t.Errorf("nothing says %q: %q", want, got.errors)
		}
	}
	if got.code != exit.Usage || got.out != "" {
		t.Errorf("exit code %d, it printed %q", got.code, got.out)
	}
}

// TestAStepThatIsNoPartOfATurnIsACommand runs steps with flags that only their commands have.
func TestAStepThatIsNoPartOfATurnIsACommand(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	if got := daemon.at().run(t, "do", "--tab", "t1", "click 3 --each", "wait text Done --each", "click --help"); got.code != exit.OK || !strings.Contains(got.out, "domtap click REF") {
		t.Errorf("got %d, %q, %q", got.code, got.out, got.errors)
	}
}
