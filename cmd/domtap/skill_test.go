package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/domtap/domtap/cmd/domtap/internal/daemoncmd"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
)

var updateSkill = flag.Bool("update-skill", false, "write skills/domtap/SKILL.md anew")

// The skill in the repository equals the program's output, and each of its commands exists in the program, with its flags.
func TestTheSkillIsThatOfTheProgram(t *testing.T) {
	file := filepath.Join(root, "skills", "domtap", "SKILL.md")
	text := daemoncmd.SkillText(newRoot(newApp(nil, nil, nil, nil)))
	if *updateSkill {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil || string(kept) != text {
		t.Errorf("%s is not what domtap skill prints (%v): run go test ./cmd/domtap -run Skill -update-skill", file, err)
	}
	if !regexp.MustCompile(`\A---\nname: domtap\ndescription: .{50,1000}\n---\n`).MatchString(text) {
		t.Errorf("the front matter is not that of a skill:\n%.300s", text)
	}
	checked := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "domtap ") {
			continue
		}
		checked++
		words := strings.Fields(strings.TrimSpace(line))[1:]
		cmd, _, err := newRoot(newApp(nil, nil, nil, nil)).Find(words)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		for _, word := range words {
			if name, isFlag := strings.CutPrefix(word, "--"); isFlag && cmd.Flags().Lookup(name) == nil {
				t.Errorf("%s: %s has no flag --%s", line, cmd.Name(), name)
			}
		}
	}
	if checked < 10 {
		t.Errorf("only %d commands were checked", checked)
	}
}

func TestSkillIsPrintedOrWritten(t *testing.T) {
	dir := t.TempDir()
	cmd, _ := isolated(t)
	printed := cmd.run(t, "skill")
	written := cmd.run(t, "skill", dir)
	file := filepath.Join(dir, "domtap", "SKILL.md")
	text, err := os.ReadFile(file)
	if printed.code != exit.OK || written.code != exit.OK || written.out != file+"\n" || err != nil || string(text) != printed.out || !strings.Contains(printed.out, "`click REF`") {
		t.Errorf("%+v, %+v, %v", printed.code, written, err)
	}
	if got := cmd.run(t, "skill", os.DevNull); got.code != exit.Failure || !strings.Contains(got.errors, "name a writable directory") {
		t.Errorf("%+v", got)
	}
}

var updateIndex = flag.Bool("update-index", false, "write the pages of docs/README.md into llms.txt")

// docs/README.md is the index of the documentation. It lists every page with the page's title. llms.txt has the same lists.
func TestTheIndexNamesEveryPage(t *testing.T) {
	index := readDocument(t, filepath.Join(root, "docs", "README.md"))
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) < 20 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		title, _, _ := strings.Cut(strings.TrimPrefix(readDocument(t, page), "# "), "\n")
		if name := filepath.Base(page); name != "README.md" && strings.Count(index, "\n- ["+title+"]("+name+")") != 1 {
			t.Errorf("docs/README.md does not have one line - [%s](%s)", title, name)
		}
	}
	_, lists, _ := strings.Cut(index, "\n## ")
	lists = strings.NewReplacer("](../", "](", "](", "](docs/").Replace("\n## " + lists + "\n")
	file := filepath.Join(root, "llms.txt")
	text := readDocument(t, file)
	before, rest, _ := strings.Cut(text, "\n## ")
	_, optional, found := strings.Cut(rest, "\n## Optional\n")
	if !strings.HasPrefix(before, "# domtap\n\n> ") || !found {
		t.Fatalf("llms.txt begins with %.40q, or has no part Optional", text)
	}
	want := before + lists + "## Optional\n" + optional
	if *updateIndex {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text != want {
		t.Errorf("llms.txt does not have the lists of docs/README.md: run go test ./cmd/domtap -run Index -update-index")
	}
	for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(want, -1) {
		if _, err := os.Stat(filepath.Join(root, link[1])); err != nil {
			t.Errorf("llms.txt: %v", err)
		}
	}
}

// domtap mcp install reports what it did, prints the change if requested, and does nothing a second time.
func TestMCPInstall(t *testing.T) {
	home := t.TempDir()
	cmd, _ := isolated(t)
	cmd.env["HOME"], cmd.env["USERPROFILE"] = home, home
	file := filepath.Join(home, ".cursor", "mcp.json")
	run := func(want string, args ...string) {
		t.Helper()
		if got := cmd.run(t, append([]string{"mcp"}, args...)...); got.code != exit.OK || !strings.Contains(got.out, want) {
			t.Errorf("%v: %+v, want %q", args, got, want)
		}
	}
	run(`"domtap": {"command":"/opt/domtap","args":["mcp","--tools","core,page"]}`, "install", "cursor", "--program", "/opt/domtap", "--tools", "core,page", "--print")
	if _, err := os.Stat(file); err == nil {
		t.Error("--print wrote the file")
	}
	run(file+": Cursor now starts /opt/domtap mcp, as domtap\n", "install", "cursor", "--program", "/opt/domtap")
	run(file+": nothing to do\n", "install", "cursor", "--program", "/opt/domtap")
	run("backup: "+file+".before-domtap\n", "install", "cursor", "--program", "/opt/other")
	run(file+": Cursor no longer starts domtap\n", "uninstall", "cursor")
	run(file+": nothing to do\n", "uninstall", "cursor")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]struct {
		code int
		say  string
	}{
		"install cursor":                   {exit.Failure, "the file was not changed"},
		"install emacs":                    {exit.Usage, "unknown MCP host"},
		"install cursor --name a.b":        {exit.Usage, "invalid --name"},
		"install cursor --tools all,no":    {exit.Usage, "unknown class of tools"},
		"install claude-desktop --project": {exit.Usage, "has no file for a project"},
		"install":                          {exit.Usage, "missing HOST"},
	} {
		if got := cmd.run(t, append([]string{"mcp"}, strings.Fields(line)...)...); got.code != want.code || !strings.Contains(got.errors, want.say) {
			t.Errorf("%s: %+v, want %d and %q", line, got, want.code, want.say)
		}
	}
}

// docs/mcp.md shows the entries that domtap mcp install writes, each in the format of its host.
func TestDocumentedEntriesAreThoseOfInstall(t *testing.T) {
	page := readDocument(t, filepath.Join(root, "docs", "mcp.md"))
	var documented []string
	for _, match := range regexp.MustCompile("(?ms)^```(json|toml)\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		documented = append(documented, strings.Join(strings.Fields(match[2]), ""))
	}
	home := t.TempDir()
	cmd, _ := isolated(t)
	cmd.env["HOME"], cmd.env["USERPROFILE"] = home, home
	for _, host := range []string{"claude-desktop", "cursor", "vscode", "codex"} {
		got := cmd.run(t, "mcp", "install", host, "--print", "--program", "/home/ines/domtap/bin/domtap", "--file", filepath.Join(home, host))
		if entry := strings.Join(strings.Fields(got.out), ""); got.code != exit.OK || !slices.Contains(documented, entry) {
			t.Errorf("docs/mcp.md does not show what domtap mcp install %s writes:\n%s", host, got.out)
		}
	}
}
