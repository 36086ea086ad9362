package compact

import "github.com/domtap/domtap/dom"

// NativeRole returns the native role of a tag according to HTML-AAM 1.0, or according to Chromium if that defines none. typ is the type of
// an input; for other tags only "select-multiple" is relevant. hasHref reports whether a link has a target. If the role depends on more
// than that, such as for header, the more specific role is returned. Tags without a native role are "generic".
func NativeRole(tag, typ string, hasHref bool) string {
	switch tag {
	case "a", "area":
		if hasHref {
			return "link"
		}
		return "generic"
	case "input":
		if role, ok := inputRoles[typ]; ok {
			return role
		}
		return "textbox"
	case "select":
		if typ == "select-multiple" {
			return "listbox"
		}
		return "combobox"
	}
	if role, ok := tagRoles[tag]; ok {
		return role
	}
	return "generic"
}

var inputRoles = map[string]string{
	"button": "button", "submit": "button", "reset": "button", "image": "button",
	"color": "button", "file": "button",
	"checkbox": "checkbox", "radio": "radio", "range": "slider", "number": "spinbutton",
	"search": "searchbox", "date": "date", "datetime-local": "datetime", "month": "date",
	"week": "date", "time": "time",
}

var tagRoles = map[string]string{
	"address": "group", "article": "article", "aside": "complementary", "blockquote": "blockquote",
	"button": "button", "caption": "caption", "code": "code", "datalist": "listbox", "dd": "definition",
	"del": "deletion", "details": "group", "dfn": "term", "dialog": "dialog", "dt": "term",
	"em": "emphasis", "fieldset": "group", "figure": "figure", "footer": "contentinfo", "form": "form",
	"h1": "heading", "h2": "heading", "h3": "heading", "h4": "heading", "h5": "heading", "h6": "heading",
	"header": "banner", "hgroup": "group", "hr": "separator", "html": "document", "img": "img",
	"ins": "insertion", "li": "listitem", "main": "main", "mark": "mark", "math": "math", "menu": "list",
	"meter": "meter", "nav": "navigation", "ol": "list", "optgroup": "group", "option": "option",
	"output": "status", "p": "paragraph", "progress": "progressbar", "s": "deletion", "search": "search",
	"section": "region", "strong": "strong", "sub": "subscript", "summary": "button",
	"sup": "superscript", "svg": "img", "table": "table", "tbody": "rowgroup", "td": "cell",
	"textarea": "textbox", "tfoot": "rowgroup", "th": "columnheader", "thead": "rowgroup",
	"time": "time", "tr": "row", "ul": "list",
}

// hasOwnRole reports whether the element's role is redundant: it is empty, the native role of the tag, or a role that the tag has natively
// in some contexts.
func hasOwnRole(e *dom.Element) bool {
	if e.Role == "" || e.Role == e.Tag || e.Role == NativeRole(e.Tag, e.Type, e.Href != "") {
		return true
	}
	switch e.Tag {
	case "label":
		return isStandIn(e) && e.Role == NativeRole("input", e.Type, false)
	case "header", "footer", "section", "form", "aside", "li", "summary", "option":
		return e.Role == "generic"
	case "img", "svg":
		return e.Role == "image" || e.Role == "none" || e.Role == "presentation"
	case "select":
		return e.Role == "listbox" || e.Role == "combobox"
	case "td":
		return e.Role == "gridcell"
	case "th":
		return e.Role == "rowheader" || e.Role == "cell" || e.Role == "gridcell"
	}
	return false
}
