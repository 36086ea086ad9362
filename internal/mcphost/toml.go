package mcphost

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// errInline says that a TOML file has its servers in a form that is not edited.
var errInline = errors.New("the servers are in one inline table: write them as tables, [mcp_servers.NAME], or edit the file yourself")

// section is the lines of a table of TOML, with its header.
type section struct {
	header     string
	begin, end int
}

// sections finds the tables of a text, by the places where they begin and end. Text in strings of several lines has none.
func sections(text string) ([]section, error) {
	var all []section
	quote := ""
	at := 0
	for line := range strings.Lines(text) {
		begin := at
		at += len(line)
		trimmed := strings.TrimSpace(line)
		if quote == "" && strings.HasPrefix(trimmed, "[") && isHeader(trimmed) {
			if len(all) > 0 {
				all[len(all)-1].end = begin
			}
			all = append(all, section{header: headerOf(trimmed), begin: begin})
			continue
		}
		if quote == "" && len(all) == 0 && (strings.HasPrefix(trimmed, "mcp_servers.") || strings.HasPrefix(strings.ReplaceAll(trimmed, " ", ""), "mcp_servers=")) {
			return nil, errInline
		}
		quote = openQuote(trimmed, quote)
	}
	if quote != "" {
		return nil, fmt.Errorf("not TOML: a string of several lines does not end")
	}
	if len(all) > 0 {
		all[len(all)-1].end = len(text)
	}
	return all, nil
}

// isHeader reports whether a line is the header of a table, and not a line of an array.
func isHeader(line string) bool {
	end := strings.LastIndexByte(line, ']')
	if end < 0 {
		return false
	}
	rest := strings.TrimSpace(line[end+1:])
	inside := strings.Trim(line[:end+1], "[]")
	return (rest == "" || strings.HasPrefix(rest, "#")) && strings.TrimSpace(inside) != "" && !strings.ContainsAny(inside, ",={[")
}

// headerOf is the name of a table without brackets, quotes and white space.
func headerOf(line string) string {
	return strings.NewReplacer(" ", "", "\t", "", `"`, "", "'", "").Replace(strings.Trim(line[:strings.LastIndexByte(line, ']')+1], "[]"))
}

// openQuote is the quote of the string of several lines that is open after a line; empty: none is.
func openQuote(line, open string) string {
	for line != "" {
		if open != "" {
			_, rest, ended := strings.Cut(line, open)
			if !ended {
				return open
			}
			line, open = rest, ""
			continue
		}
		basic, literal := strings.Index(line, `"""`), strings.Index(line, "'''")
		switch {
		case basic >= 0 && (literal < 0 || basic < literal):
			open, line = `"""`, line[basic+3:]
		case literal >= 0:
			open, line = "'''", line[literal+3:]
		default:
			return ""
		}
	}
	return open
}

// tomlSet adds a server to a text. In a table that is there, it changes the command and its arguments alone.
func tomlSet(text string, s Server) (string, error) {
	all, err := sections(text)
	if err != nil {
		return "", err
	}
	var args []string
	for _, one := range s.Args {
		args = append(args, tomlString(one))
	}
	lines := "command = " + tomlString(s.Command) + "\nargs = [" + strings.Join(args, ", ") + "]\n"
	for _, one := range all {
		if one.header == "mcp_servers."+s.Name {
			head, body, _ := strings.Cut(text[one.begin:one.end], "\n")
			if strings.Contains(body, lines) {
				return text, nil
			}
			return text[:one.begin] + head + "\n" + lines + without(body, "command", "args") + text[one.end:], nil
		}
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if text != "" {
		text += "\n"
	}
	return text + "[mcp_servers." + s.Name + "]\n" + lines, nil
}

// without removes assignments from the body of a table, also those of arrays in several lines.
func without(body string, keys ...string) string {
	var left strings.Builder
	depth := 0
	for line := range strings.Lines(body) {
		name, value, assigns := strings.Cut(line, "=")
		if depth == 0 && !(assigns && slices.Contains(keys, strings.Trim(strings.TrimSpace(name), "\"'"))) {
			left.WriteString(line)
			continue
		}
		if depth > 0 {
			value = line
		}
		depth += brackets(value)
	}
	return left.String()
}

// brackets counts the arrays that a line opens and does not close; those in strings and comments do not count.
func brackets(line string) int {
	depth := 0
	var quote rune
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			escaped = false
		case quote == '"' && r == '\\':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '#':
			return depth
		case r == '[':
			depth++
		case r == ']':
			depth--
		}
	}
	return depth
}

// tomlRemove removes a server with the tables below it.
func tomlRemove(text, name string) (string, error) {
	all, err := sections(text)
	if err != nil {
		return "", err
	}
	for i := len(all) - 1; i >= 0; i-- {
		if h := all[i].header; h == "mcp_servers."+name || strings.HasPrefix(h, "mcp_servers."+name+".") {
			before := text[:all[i].begin]
			if all[i].end == len(text) { // the line that parts it from the tables before
				before = strings.TrimRight(before, "\r\n \t")
				if before != "" {
					before += "\n"
				}
			}
			text = before + text[all[i].end:]
		}
	}
	return text, nil
}

// tomlString writes a basic string.
func tomlString(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
