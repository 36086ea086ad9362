package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/internal/nearest"
)

// hintDirs lists the directories with the texts that commands and the daemon print.
var hintDirs = []string{"cmd/domtap", "internal", "actor", "client", "view", "compact"}

// noHints lists paths below hintDirs that print nothing for users.
var noHints = []string{"internal/testenv", "internal/archtest", "internal/recording/script", "internal/audit", "internal/cluster/registry/states.go"}

// printers maps directories without commands to the commands that print their texts. The texts of other directories may be printed by any
// command that calls the daemon.
var printers = map[string][]string{
	"cmd/domtap/internal/daemon":       {"serve"},
	"cmd/domtap/internal/profiling":    {"serve"},
	"cmd/domtap/internal/settings":     {"serve"},
	"cmd/domtap/internal/servecmd":     {"serve", "config"},
	"cmd/domtap/internal/doctor":       {"doctor"},
	"cmd/domtap/internal/sessionflags": {"session new", "session set"},
	"cmd/domtap/internal/profileflags": {"session new", "session login", "profile save"},
	"internal/browser/launch":          {"serve"}, // a command that starts the daemon prints variables instead (endpoint.Launch)
	"internal/server/rpc/listen":       {"serve"},
	"internal/mcp":                     {"mcp"},
	"internal/mcphost":                 {"mcp install"},
}

// ofOthers lists flags of other programs, and flags of domtap in texts that describe their command in other words.
var ofOthers = map[string][]string{
	"":                                     {"help", "cask", "shm-size", "no-sandbox", "remote-debugging-port"},
	"internal/browser/discovery/choose.go": {"user-data-dir"},
	"internal/browser/launch/search.go":    {"browser"}, // it replaces this flag
	"cmd/domtap/internal/recordcmd/replay.go": {"addr"},
	"cmd/domtap/internal/daemoncmd/skill.go":  {"json"},
	"cmd/domtap/internal/readcmd/wait.go":     {"until"}, // its conditions are also used by domtap watch
}

// A hint is a text of the program that names a command or a flag of domtap.
type hint struct {
	at, text string
	// commands lists the commands that print the text.
	commands []string
}

var (
	// clause matches a command and the rest of the clause.
	clause = regexp.MustCompile(`\bdomtap ([a-z][a-z-]*\b[^.,;:()\n"#|]*)`)
	// ofCommand matches flags that are followed by their command.
	ofCommand = regexp.MustCompile(`((?:--[a-z][a-z-]+[^-,.;:]*(?:, | and | or )?)+)of domtap ([a-z]+)`)
	flagName  = regexp.MustCompile(`(?:^|[^\w-])--([a-z][a-z0-9-]+)`)
	variable  = regexp.MustCompile(`\bDOMTAP_[A-Z_]+\b`)
	// argument matches a text that consists of one flag, for a program that domtap starts.
	argument = regexp.MustCompile(`^--[a-z-]+(=\S*)?$`)
	// example matches a line of examples, which is one command.
	example  = regexp.MustCompile(`(?m)^  domtap (.*)$`)
	wordOnly = regexp.MustCompile(`^[a-z][a-z-]*$`)
)

// TestEveryHintCanBeTyped checks each command, flag and variable of domtap in the texts of the program. A command must exist. A flag next
// to a command must belong to it ("domtap serve --max-tabs 50", "--max-tabs of domtap serve"). A flag alone must belong to the command that
// prints the text. -v prints all hints.
func TestEveryHintCanBeTyped(t *testing.T) {
	app := newRoot(newApp(nil, nil, nil, nil))
	known := variables(app)
	all := readHints(t, app)
	if len(all) < 300 {
		t.Fatalf("found only %d hints", len(all))
	}
	for _, h := range all {
		by := strings.Join(h.commands, ", ")
		if len(h.commands) > 10 {
			by = "any caller"
		}
		t.Logf("%s (%s): %s", h.at, by, oneLine(h.text))
		for _, problem := range h.problems(app) {
			t.Errorf("%s: %s, in: %s", h.at, problem, oneLine(h.text))
		}
		for _, name := range variable.FindAllString(h.text, -1) {
			if !known[name] && !strings.HasSuffix(name, "_") {
				t.Errorf("%s: no setting has the variable %s", h.at, name)
			}
		}
	}
}

func TestWrongHintsAreFound(t *testing.T) {
	app := newRoot(newApp(nil, nil, nil, nil))
	for text, right := range map[string]bool{
		"name one with --chrome":                         false,
		"name one with --chrome of domtap serve":         true,
		"start it with domtap serve --chrome PATH":       true,
		"raise --max-tabs and --mailbox of domtap serve": true,
		"domtap opne URL":                                false,
		"domtap open --chrome x":                         false,
		"use --tab t1":                                   true,
		"domtap session nwe":                             false,
	} {
		h := hint{"x", text, []string{"click"}}
		if got := h.problems(app); (len(got) == 0) != right {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// problems returns the names in a hint that do not exist or that its commands reject.
func (h hint) problems(root *cobra.Command) []string {
	var found []string
	check := func(cmd *cobra.Command, left string) {
		if unknown := unknownSubcommand(cmd, left); unknown != "" {
			found = append(found, "no command "+cmd.Name()+" "+unknown)
		}
		found = append(found, h.refused(left, cmd)...)
	}
	rest := ofCommand.ReplaceAllStringFunc(h.text, func(match string) string {
		parts := ofCommand.FindStringSubmatch(match)
		if cmd, _ := lookup(root, parts[2]); cmd != nil {
			check(cmd, parts[1])
		} else {
			found = append(found, "no command "+parts[2])
		}
		return " "
	})
	for _, form := range []*regexp.Regexp{example, clause} {
		rest = form.ReplaceAllStringFunc(rest, func(match string) string {
			words := form.FindStringSubmatch(match)[1]
			cmd, left := lookup(root, words)
			if cmd == nil {
				first, _, _ := strings.Cut(words, " ")
				if near := nearest.Name(first, names(root)); near != "" && !slices.Contains(prose, first) {
					found = append(found, "no command "+first+" (near: "+near+")")
				}
				return words
			}
			check(cmd, left)
			return " "
		})
	}
	var commands []*cobra.Command
	for _, name := range h.commands {
		cmd, _ := lookup(root, name)
		commands = append(commands, cmd)
	}
	return append(found, h.refused(rest, commands...)...)
}

// prose lists words after domtap that look like commands.
var prose = []string{"can", "from", "reads", "starts", "to"}

// refused returns the flags in a text that none of the commands has.
func (h hint) refused(text string, commands ...*cobra.Command) []string {
	var found []string
	for _, match := range flagName.FindAllStringSubmatch(text, -1) {
		name := match[1]
		file, _, _ := strings.Cut(h.at, ":")
		if slices.Contains(ofOthers[""], name) || slices.Contains(ofOthers[file], name) || strings.HasPrefix(name, "cluster") || strings.HasPrefix(name, "nats") {
			continue // a program without cluster support lacks these flags
		}
		if !slices.ContainsFunc(commands, func(cmd *cobra.Command) bool {
			return cmd.Flags().Lookup(name) != nil || cmd.InheritedFlags().Lookup(name) != nil
		}) {
			found = append(found, commands[0].CommandPath()+" has no --"+name)
		}
	}
	return found
}

// lookup finds the command at the start of a text and returns the remaining text.
func lookup(root *cobra.Command, text string) (*cobra.Command, string) {
	cmd, left := root, text
	for {
		first, rest, _ := strings.Cut(strings.TrimLeft(left, " "), " ")
		at := slices.IndexFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Name() == first || c.HasAlias(first) })
		if at < 0 {
			if cmd == root {
				return nil, text
			}
			return cmd, left
		}
		cmd, left = cmd.Commands()[at], rest
	}
}

// unknownSubcommand returns the word after a command that only has subcommands. It returns an empty string if the word does not look like a
// subcommand.
func unknownSubcommand(cmd *cobra.Command, left string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(left), " ")
	if !cmd.HasSubCommands() || !wordOnly.MatchString(first) {
		return ""
	}
	return nearest.Name(first, names(cmd))
}

func names(cmd *cobra.Command) []string {
	var all []string
	for _, c := range cmd.Commands() {
		all = append(all, c.Name())
	}
	return all
}

// variables returns the environment variables of all flags, and variables without a flag.
func variables(root *cobra.Command) map[string]bool {
	known := map[string]bool{"DOMTAP_REMOTE_HEADERS": true, "DOMTAP_SEARCH_KEY": true, "DOMTAP_PROFILE_PASSPHRASE": true, "DOMTAP_PROGRAM": true, "DOMTAP_TEST_NATS": true}
	forEachCommand(root, func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			for _, name := range f.Annotations[cli.EnvAnnotation] {
				known[name] = true
			}
		})
	})
	return known
}

// readHints reads the hints of all source files.
func readHints(t *testing.T, app *cobra.Command) []hint {
	t.Helper()
	var all []hint
	for _, dir := range hintDirs {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			name, err := filepath.Rel(root, path)
			name = filepath.ToSlash(name)
			if slices.ContainsFunc(noHints, func(dir string) bool { return strings.HasPrefix(name+"/", dir+"/") }) {
				return err
			}
			all = append(all, hintsOf(t, app, path, name)...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// hintsOf reads the hints of one file. If the file creates commands, these commands print its texts.
func hintsOf(t *testing.T, app *cobra.Command, path, name string) []hint {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[token.Pos]string{}
	inner := map[token.Pos]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		if e, ok := node.(ast.Expr); ok && !inner[e.Pos()] {
			if text, isText := stringOf(e); isText {
				texts[e.Pos()], inner[e.Pos()] = text, true
				return false
			}
		}
		return true
	})
	commands := commandsOf(app, file, name)
	var found []hint
	for at, text := range texts {
		if argument.MatchString(text) {
			continue
		}
		if clause.MatchString(text) || flagName.MatchString(text) || variable.MatchString(text) {
			found = append(found, hint{name + ":" + strconv.Itoa(files.Position(at).Line), text, commands})
		}
	}
	slices.SortFunc(found, func(a, b hint) int { return strings.Compare(a.at, b.at) })
	return found
}

// stringOf returns the value of a string expression, with … for parts that are known only at run time.
func stringOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, isLeft := stringOf(e.X)
		right, isRight := stringOf(e.Y)
		if e.Op != token.ADD || !isLeft && !isRight {
			return "", false
		}
		if !isLeft {
			left = "…"
		}
		if !isRight {
			right = "…"
		}
		return left + right, true
	case *ast.ParenExpr:
		return stringOf(e.X)
	}
	return "", false
}

// commandsOf returns the commands that print the texts of a file: the commands that it creates, otherwise the commands of its directory.
func commandsOf(app *cobra.Command, file *ast.File, name string) []string {
	var made []string
	ast.Inspect(file, func(node ast.Node) bool {
		pair, ok := node.(*ast.KeyValueExpr)
		if key, isName := pairKey(pair, ok); isName && (key == "Use" || key == "use") {
			text, _ := stringOf(pair.Value)
			first, _, _ := strings.Cut(text, " ")
			forEachCommand(app, func(cmd *cobra.Command) {
				if cmd.Name() == first {
					made = append(made, strings.TrimPrefix(cmd.CommandPath(), "domtap "))
				}
			})
		}
		return true
	})
	if len(made) > 0 {
		return made
	}
	for dir := name; dir != "."; dir = filepath.ToSlash(filepath.Dir(dir)) {
		if commands := printers[dir]; commands != nil {
			return commands
		}
	}
	return callers(app)
}

// callers returns the commands that call the daemon: all commands except those that run or check a daemon.
func callers(app *cobra.Command) []string {
	var all []string
	forEachCommand(app, func(cmd *cobra.Command) {
		if name := strings.TrimPrefix(cmd.CommandPath(), "domtap "); !slices.Contains([]string{"serve", "config", "doctor"}, name) {
			all = append(all, name)
		}
	})
	return all
}

func pairKey(pair *ast.KeyValueExpr, ok bool) (string, bool) {
	if !ok {
		return "", false
	}
	key, isName := pair.Key.(*ast.Ident)
	if !isName {
		return "", false
	}
	return key.Name, true
}
