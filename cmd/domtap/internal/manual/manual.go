// Package manual writes the manual pages of a tree of commands, in the roff of man(7).
//
// What it writes depends on the commands and the arguments alone, so that two builds of one version have the same pages.
package manual

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Header is what the pages have in common.
type Header struct {
	// Version is the program's, Date the day of its release, as 2006-01-02.
	Version, Date string
	// Env names the annotation of a flag that holds its environment variable.
	Env string
}

// Name is the name of a command's page, such as "domtap-serve".
func Name(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// Pages lists the commands that have pages: the command, and those below it that are not hidden.
func Pages(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, child := range cmd.Commands() {
		if !child.Hidden && child.Name() != "help" && !child.IsAdditionalHelpTopicCommand() {
			all = append(all, Pages(child)...)
		}
	}
	return all
}

// Write writes the page of a command.
func Write(to io.Writer, cmd *cobra.Command, h Header) error {
	w := &page{out: bufio.NewWriter(to)}
	w.macro("TH", strings.ToUpper(Name(cmd)), "1", h.Date, "domtap "+h.Version, "domtap")
	w.section("Name")
	w.line(Name(cmd) + " - " + cmd.Short)
	w.section("Synopsis")
	w.bold(cmd.UseLine())
	if cmd.HasAvailableSubCommands() {
		w.macro("br")
		w.bold(cmd.CommandPath() + " COMMAND")
	}
	if text := cmd.Long; text != "" {
		w.section("Description")
		w.text(text)
	}
	w.commands(cmd)
	w.flags("Options", cmd.NonInheritedFlags(), h)
	w.flags("Options of every command", cmd.InheritedFlags(), h)
	if cmd.Example != "" {
		w.section("Examples")
		w.literal(cmd.Example)
	}
	if cmd.HasParent() {
		w.section("See also")
		w.bold(Name(cmd.Root()))
		w.line("(1)")
	}
	return w.out.Flush()
}

// page writes roff. Errors stay in out until Flush.
type page struct{ out *bufio.Writer }

// escape keeps what roff would read: backslashes, minus signs that are to be pasted, what begins a line, and what is not ASCII.
func escape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	var out strings.Builder
	for _, r := range text {
		if r < 0x80 {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, `\[u%04X]`, r)
		}
	}
	return out.String()
}

func (p *page) raw(line string) { _, _ = p.out.WriteString(line + "\n") } // Flush tells

func (p *page) line(text string) { p.raw(escape(text)) }

func (p *page) macro(name string, arguments ...string) {
	for _, a := range arguments {
		name += ` "` + strings.ReplaceAll(escape(a), `"`, `\(dq`) + `"`
	}
	p.raw("." + name)
}

func (p *page) section(title string) { p.macro("SH", strings.ToUpper(title)) }

func (p *page) bold(text string) { p.macro("B", text) }

// text writes paragraphs. What is indented is literal.
func (p *page) text(text string) {
	for i, paragraph := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			p.macro("PP")
		}
		if strings.HasPrefix(paragraph, "  ") {
			p.literal(paragraph)
			continue
		}
		for line := range strings.SplitSeq(paragraph, "\n") {
			p.line(strings.TrimSpace(line))
		}
	}
}

func (p *page) literal(text string) {
	p.macro("nf")
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		p.line(line)
	}
	p.macro("fi")
}

func (p *page) commands(cmd *cobra.Command) {
	var listed []*cobra.Command
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() && child.Name() != "help" {
			listed = append(listed, child)
		}
	}
	if len(listed) == 0 {
		return
	}
	p.section("Commands")
	for _, child := range listed {
		p.macro("TP")
		p.bold(Name(child) + "(1)")
		p.line(child.Short)
	}
}

func (p *page) flags(title string, all *pflag.FlagSet, h Header) {
	if !all.HasAvailableFlags() {
		return
	}
	p.section(title)
	all.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		p.macro("TP")
		name, usage := pflag.UnquoteUsage(f)
		spelled := "--" + f.Name
		if f.Shorthand != "" {
			spelled = "-" + f.Shorthand + ", " + spelled
		}
		if name != "" {
			spelled += " " + name
		}
		p.bold(spelled)
		if env := f.Annotations[h.Env]; len(env) > 0 {
			usage = strings.TrimSuffix(usage, " [$"+env[0]+"]")
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" && f.DefValue != "0s" {
			usage += fmt.Sprintf(" (default: %s)", f.DefValue)
		}
		p.line(usage)
		if env := f.Annotations[h.Env]; len(env) > 0 {
			p.macro("br")
			p.line("Environment: " + env[0])
		}
	})
}
