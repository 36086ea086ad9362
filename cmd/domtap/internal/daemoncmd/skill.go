package daemoncmd

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
)

// skillHead is the text of a skill before the table of commands.
//
//go:embed skill.md
var skillHead string

// Skill returns the command skill. all returns the tree of commands that the skill lists.
func Skill(a *cli.App, all func() *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "skill [DIR]",
		Short: "Print or write the skill file for agents that run commands",
		Long: `Print SKILL.md, which teaches an agent with a shell when and how to use domtap. With DIR, such as
~/.claude/skills, write it to DIR/domtap/SKILL.md. It lists the commands of this version.`,
		Example: "  domtap skill ~/.claude/skills\n  domtap skill > SKILL.md",
		Args:    cli.Args("[DIR]"),
	}
	cmd.RunE = cli.Work(func(_ *cobra.Command, args []string) error {
		text := SkillText(all())
		if len(args) == 0 {
			_, err := a.Out.Write([]byte(text))
			return err
		}
		file := filepath.Join(args[0], "domtap", "SKILL.md")
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil {
			err = os.WriteFile(file, []byte(text), 0o644)
		}
		if err != nil {
			return exit.Errorf(exit.Failure, "name a writable directory", "write the skill: %w", err)
		}
		return a.Printer().Text(file + "\n")
	})
	return cmd
}

// operatorCommands lists the commands for people who operate domtap.
var operatorCommands = map[string]bool{"help": true, "completion": true, "man": true, "skill": true, "ui": true, "cluster": true, "config": true, "token": true, "socket": true, "health": true}

// SkillText returns the text of the skill for the commands below root.
func SkillText(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(strings.TrimRight(skillHead, "\n") + "\n\n## Commands\n\n")
	for _, group := range root.Groups() {
		var uses []string
		for _, cmd := range root.Commands() {
			if cmd.GroupID != group.ID || cmd.Hidden || operatorCommands[cmd.Name()] {
				continue
			}
			use := cmd.Use
			if subs := subcommands(cmd); len(subs) > 0 {
				use = cmd.Name() + " " + strings.Join(subs, "|")
			}
			uses = append(uses, "`"+use+"`")
		}
		fmt.Fprintf(&b, "- %s %s\n", group.Title, strings.Join(uses, ", "))
	}
	b.WriteString("\n`domtap COMMAND --help` describes the flags. `--json` prints one JSON message per line.\n")
	return b.String()
}

// subcommands returns the names of a command's subcommands.
func subcommands(cmd *cobra.Command) []string {
	var names []string
	for _, one := range cmd.Commands() {
		if !one.Hidden && one.Name() != "help" {
			names = append(names, one.Name())
		}
	}
	return names
}
