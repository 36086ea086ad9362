package mcphost

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// errInline reports that the servers in a TOML file have a form that is not supported for editing.
var errInline = errors.New("the servers are in one inline table: write them as tables, [mcp_servers.NAME], or edit the file yourself")

// section is the lines of a TOML table, with its header.
type section struct {
	header     string
	begin, end int
}

// sections returns the tables of a text with their start and end offsets. It ignores text in multi-line strings.
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

// isHeader reports whether a line is the header of a table rather than a line of an array.
func isHeader(line string) bool {
	end := strings.LastIndexByte(line, ']')
	if end < 0 {
		return false
	}
	rest := strings.TrimSpace(line[end+1:])
	inside := strings.Trim(line[:end+1], "[]")
	return (rest == "" || strings.HasPrefix(rest, "#")) && strings.TrimSpace(inside) != "" && !strings.ContainsAny(inside, ",={[")
}

// headerOf returns the name of a table without brackets, quotes and white space. A dot in quotes does not separate names.
func headerOf(line string) string {
	var name strings.Builder
	var quote rune
	for _, r := range strings.Trim(line[:strings.LastIndexByte(line, ']')+1], "[]") {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
		case quote != 0 && r == '.':
			name.WriteByte(0)
		case quote != 0 || r != ' ' && r != '\t':
			name.WriteRune(r)
		}
	}
	return name.String()
}

// assigns reports whether a table assigns to a name, or to names below it, without a separate table.
func assigns(body, name string) bool {
	for line := range strings.Lines(body) {
		key, _, found := strings.Cut(line, "=")
		key, _, _ = strings.Cut(key, ".")
		if found && strings.Trim(strings.TrimSpace(key), "\"'") == name {
			return true
		}
	}
	return false
}

// openQuote returns the quote of a multi-line string that is open after a line, or an empty string. It ignores quotes in comments and in
// single-line strings.
func openQuote(line, open string) string {
	for line != "" {
		switch {
		case open != "":
			end := closing(line, open)
			if end < 0 {
				if len(open) == 3 {
					return open
				}
				return "" // an unterminated single-line string: invalid TOML, but not a multi-line string
			}
			line, open = line[end:], ""
		case line[0] == '#':
			return ""
		case strings.HasPrefix(line, `"""`), strings.HasPrefix(line, "'''"):
			open, line = line[:3], line[3:]
		case line[0] == '"', line[0] == '\'':
			open, line = line[:1], line[1:]
		default:
			line = line[1:]
		}
	}
	return open
}

// closing returns the position after the quote that ends a string. It is negative if the string does not end in the line.
func closing(line, quote string) int {
	for i := 0; i < len(line); i++ {
		if quote[0] == '"' && line[i] == '\\' {
			i++
		} else if strings.HasPrefix(line[i:], quote) {
			for len(quote) == 3 && i+3 < len(line) && line[i+3] == quote[0] { // up to two more quotes belong to the string
				i++
			}
			return i + len(quote)
		}
	}
	return -1
}

// servers returns the tables of a text in which a server may be edited.
func servers(text, name string) ([]section, error) {
	all, err := sections(text)
	for _, one := range all {
		if one.header == "mcp_servers" && assigns(text[one.begin:one.end], name) {
			return nil, errInline
		}
	}
	return all, err
}

// tomlSet adds a server to a text. In an existing table it changes only the command and its arguments.
func tomlSet(text string, s Server) (string, error) {
	all, err := servers(text, s.Name)
	if err != nil {
		return "", err
	}
	var args []string
	for _, one := range s.Args {
		args = append(args, tomlString(one))
	}
	lines := "command = " + tomlString(s.Command) + "\nargs = [" + strings.Join(args, ", ") + "]\n"
	for _, one := range all {
		if one.header == headerOf("[mcp_servers."+tomlKey(s.Name)+"]") {
			head, body, _ := strings.Cut(text[one.begin:one.end], "\n")
			if strings.Contains("\n"+body, "\n"+lines) {
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
	return text + "[mcp_servers." + tomlKey(s.Name) + "]\n" + lines, nil
}

// without removes assignments from the body of a table, including arrays that span several lines.
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

// brackets returns the number of arrays that a line opens and does not close, ignoring brackets in strings and comments.
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

// tomlRemove removes a server and the tables below it.
func tomlRemove(text, name string) (string, error) {
	all, err := servers(text, name)
	if err != nil {
		return "", err
	}
	header := headerOf("[mcp_servers." + tomlKey(name) + "]")
	for i := len(all) - 1; i >= 0; i-- {
		if h := all[i].header; h == header || strings.HasPrefix(h, header+".") {
			before := text[:all[i].begin]
			if all[i].end == len(text) { // also removes the blank line before the server
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

// tomlKey returns a name as a key, quoted if necessary.
func tomlKey(name string) string {
	bare := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if name != "" && strings.IndexFunc(name, func(r rune) bool { return !bare(r) }) < 0 {
		return name
	}
	return tomlString(name)
}

// tomlString returns a basic string.
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
