package render

import (
	"fmt"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Diff prints a diff in the DIFF format, for answers that carry no text of their own; empty when nothing
// changed. A diff may list fewer entries than it counts: the section's last line says so.
func Diff(d *domtapv1.Diff) string {
	if d.GetAddedCount()+d.GetRemovedCount()+d.GetChangedCount() == 0 && len(d.GetMoved()) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Changes: +%d -%d ~%d", d.GetAddedCount(), d.GetRemovedCount(), d.GetChangedCount())
	if n := len(d.GetMoved()); n > 0 {
		fmt.Fprintf(&b, " >%d", n)
	}
	b.WriteByte('\n')
	section(&b, "Added", d.GetAdded(), int(d.GetAddedCount()), func(e *domtapv1.Element) string {
		return ref(e.GetRef()) + node(e)
	})
	section(&b, "Removed", d.GetRemoved(), int(d.GetRemovedCount()), func(r *domtapv1.RemovedElement) string {
		return ref(r.GetRef()) + node(&domtapv1.Element{Tag: r.GetTag(), Text: r.GetText()})
	})
	section(&b, "Changed", d.GetChanged(), int(d.GetChangedCount()), changed)
	section(&b, "Moved", d.GetMoved(), len(d.GetMoved()), func(m *domtapv1.MovedElement) string {
		return fmt.Sprintf("%s%d → %d", ref(m.GetRef()), m.GetFromIndex(), m.GetToIndex())
	})
	return b.String()
}

func section[E any](b *strings.Builder, heading string, entries []E, count int, line func(E) string) {
	if len(entries) == 0 {
		return
	}
	b.WriteString(heading + ":\n")
	for _, entry := range entries {
		b.WriteString("  " + line(entry) + "\n")
	}
	if more := count - len(entries); more > 0 {
		fmt.Fprintf(b, "  … and %d more\n", more)
	}
}

func ref(n uint32) string { return fmt.Sprintf("[%d] ", n) }

// node is an element as a tag around its text; a tag that can hold nothing stands before it.
func node(e *domtapv1.Element) string {
	tag, text := Line(e.GetTag()), Line(e.GetText())
	switch tag {
	case "input":
		opening := "<input>"
		if e.GetType() != "" {
			opening = fmt.Sprintf("<input type=%q>", Line(e.GetType()))
		}
		return strings.TrimRight(opening+" "+text, " ")
	case "area", "img":
		return strings.TrimRight("<"+tag+"> "+text, " ")
	}
	return "<" + tag + ">" + text + "</" + tag + ">"
}

func changed(c *domtapv1.ChangedElement) string {
	fields := make([]string, len(c.GetFields()))
	for i, f := range c.GetFields() {
		fields[i] = fmt.Sprintf("%s %s → %s", Line(f.GetField()), orNone(f.GetOld()), orNone(f.GetNew()))
	}
	return ref(c.GetRef()) + node(c.GetElement()) + ": " + strings.Join(fields, ", ")
}

func orNone(value string) string {
	if value == "" {
		return "(none)"
	}
	return Line(value)
}
