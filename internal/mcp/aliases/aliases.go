// Package aliases lists the tools of other browser servers (Playwright MCP, chrome-devtools-mcp, browser-use), which models call out of
// habit. It translates such a call to the equivalent call of domtap's tools.
//
// The package has no state.
package aliases

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"github.com/domtap/domtap/internal/nearest"
	"github.com/domtap/domtap/internal/refs"
)

// Call is a call of one of domtap's tools. If no tool is equivalent, Tool is empty and Note describes the alternative.
type Call struct {
	Tool      string
	Arguments map[string]any
	Note      string
}

// object is a JSON object, such as the arguments of a call.
type object = map[string]any

// alias describes the translation of a foreign tool.
type alias struct {
	// names lists the foreign names, in lower case without separators, separated by spaces.
	names string
	tool  string
	// fixed holds the arguments that the name of the foreign tool implies.
	fixed object
	// step is the action if the arguments are the arguments of one step of browser_interact.
	step string
	// renamed maps foreign argument names, in lower case without separators, to domtap's names.
	renamed map[string]string
	// needs holds the required arguments, with an example value for each.
	needs object
	note  string
}

const (
	interact = "browser_interact"
	tabs     = "browser_tab"
	snapshot = "browser_get_elements_compact"
)

// pointer maps the names of arguments that identify an element in most servers.
var pointer = map[string]string{"ref": "ref", "uid": "ref", "index": "ref", "element": "text", "selector": "selector", "text": "text", "x": "x", "y": "y"}

// with returns pointer extended by pairs of names.
func with(more ...string) map[string]string {
	all := maps.Clone(pointer)
	for i := 0; i+1 < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return all
}

var one = object{"ref": 12}

// table is searched in order.
var table = []alias{
	{names: "navigate goto gotourl open openurl navigatepage visit browsergoto browseropen", tool: "browser_navigate", renamed: map[string]string{"url": "url", "timeout": "timeout"}, needs: object{"url": "https://…"}},
	{names: "newpage opentab newtab browsertabnew browsernewtab browseropentab", tool: tabs, fixed: object{"action": "open"}, renamed: map[string]string{"url": "url"}},
	{names: "navigateback goback back browsernavigateback browsergoback browserback navigatepageback", tool: tabs, fixed: object{"action": "back"}},
	{names: "navigateforward goforward forward browsernavigateforward browsergoforward", tool: tabs, fixed: object{"action": "forward"}},
	{names: "reload refresh browserreload browserrefresh", tool: tabs, fixed: object{"action": "reload"}},
	{names: "listpages listtabs tablist browsertablist browserlisttabs", tool: tabs, fixed: object{"action": "list"}},
	{names: "selectpage switchtab selecttab browsertabselect browserswitchtab", tool: tabs, fixed: object{"action": "select"}, renamed: map[string]string{"tabid": "tab"}, needs: object{"tab": "t1"}},
	{names: "closepage closetab close browserclose browsertabclose browserclosetab", tool: tabs, fixed: object{"action": "close"}, renamed: map[string]string{"tabid": "tab"}},
	{names: "tabs browsertabs", tool: tabs, renamed: map[string]string{"action": "action"}, needs: object{"action": "list"}},
	{names: "handledialog browserhandledialog", tool: tabs, renamed: map[string]string{"accept": "accept", "action": "action", "prompttext": "value"}, needs: object{"action": "accept"}},
	{names: "takesnapshot snapshot getstate browsersnapshot browsergetstate browserstate getpage compact", tool: snapshot},
	{names: "find search searchpage findelement findelements browserfindelements browsersearchpage findtext findonpage", tool: "browser_find", renamed: map[string]string{"query": "query", "text": "query", "element": "query", "pattern": "query"}, needs: object{"query": "sign in"}},
	{names: "click tap clickelement clickelementbyindex browserclick clickat", tool: interact, step: "click", renamed: with("button", "button", "dblclick", "double", "doubleclick", "double"), needs: one},
	{names: "doubleclick browserdoubleclick", tool: interact, step: "double_click", renamed: pointer, needs: one},
	{names: "hover browserhover", tool: interact, step: "hover", renamed: pointer, needs: one},
	{names: "type typetext inputtext browsertype", tool: interact, step: "type", renamed: with("text", "value", "value", "value", "submit", "submit"), needs: object{"ref": 12, "value": "…"}},
	{names: "fill browserfill", tool: interact, step: "fill", renamed: with("text", "value", "value", "value"), needs: object{"ref": 12, "value": "…"}},
	{names: "fillform", tool: "browser_fill_form", renamed: map[string]string{"elements": "fields", "fields": "fields", "submit": "submit"}, needs: object{"fields": []any{object{"label": "E-mail", "value": "…"}}}},
	{names: "presskey press sendkeys browserpresskey browserpress keypress", tool: interact, step: "press", renamed: map[string]string{"key": "value", "keys": "value", "ref": "ref"}, needs: object{"value": "Enter"}},
	{names: "selectoption select selectdropdown selectdropdownoption browserselectoption browserselect", tool: interact, step: "select", renamed: with("text", "value", "value", "value", "values", "values"), needs: one},
	{names: "drag dragdrop browserdrag", tool: interact, step: "drag", renamed: map[string]string{"startref": "ref", "fromuid": "ref", "endref": "value", "touid": "value"}, needs: object{"ref": 12, "value": 15}},
	{names: "uploadfile fileupload upload browserfileupload browseruploadfile", tool: interact, step: "upload", renamed: map[string]string{"uid": "ref", "ref": "ref", "index": "ref", "filepath": "value", "path": "value", "paths": "values"}, needs: one},
	{names: "scroll scrolldown scrollpage browserscroll", tool: interact, step: "scroll", renamed: map[string]string{"direction": "direction", "ref": "ref", "index": "ref"}, needs: object{"value": 600}},
	{names: "check browsercheck", tool: interact, step: "check", renamed: pointer, needs: one},
	{names: "uncheck browseruncheck", tool: interact, step: "uncheck", renamed: pointer, needs: one},
	{names: "waitfor wait sleep browserwaitfor", tool: "browser_wait", renamed: map[string]string{"text": "text", "textgone": "textgone", "time": "timeout", "timeout": "timeout"}, needs: object{"change": true}},
	{names: "takescreenshot screenshot browsertakescreenshot", tool: "browser_screenshot", renamed: map[string]string{"fullpage": "full_page", "ref": "ref", "uid": "ref", "format": "format", "type": "format"}},
	{names: "extractcontent readpage getpagetext browserextractcontent browserread browserreadpage gettext", tool: "browser_read_page"},
	{names: "consolemessages listconsolemessages getconsolemessage networkrequests listnetworkrequests getnetworkrequest browserconsolemessages browsernetworkrequests console network", tool: "browser_log"},
	{names: "evaluate evaluatescript executejavascript runjavascript browserevaluate browserruncode browserruncodeunsafe", note: "no tool runs scripts; browser_read_page and " + snapshot + " read the page"},
	{names: "resize resizepage emulate browserresize", note: "no tool changes the viewport; domtap open --viewport 390x844 opens a tab with another viewport"},
	{names: "install browserinstall", note: "nothing needs to be installed; call browser_navigate"},
}

// Names returns the names of the foreign tools, in lower case without separators.
func Names() []string {
	var names []string
	for _, h := range table {
		names = append(names, strings.Fields(h.names)...)
	}
	return names
}

// Translate returns the equivalent of a call of a foreign tool. It returns false for an unknown tool.
func Translate(tool string, raw json.RawMessage) (Call, bool) {
	name := nearest.Plain(tool)
	for _, h := range table {
		for known := range strings.FieldsSeq(h.names) {
			if known == name {
				return h.call(raw), true
			}
		}
	}
	return Call{}, false
}

// call translates the arguments of a foreign call.
func (h *alias) call(raw json.RawMessage) Call {
	if h.tool == "" {
		return Call{Note: h.note}
	}
	var given object
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	_ = decoder.Decode(&given) // a value that is not an object has no arguments
	arguments := object{}
	for name, value := range given {
		if meant := h.renamed[nearest.Plain(name)]; meant != "" {
			h.set(arguments, meant, value)
		}
	}
	if _, both := arguments["ref"]; both && arguments["text"] != nil {
		delete(arguments, "text") // Playwright's element argument describes the element of the ref
	}
	maps.Copy(arguments, h.fixed)
	h.complete(arguments)
	if h.step == "" {
		return Call{Tool: h.tool, Arguments: arguments}
	}
	if arguments["action"] == nil {
		arguments["action"] = h.step
	}
	return Call{Tool: h.tool, Arguments: object{"steps": []any{arguments}}}
}

// set sets one argument and converts its value to the form that domtap expects.
func (h *alias) set(arguments object, name string, value any) {
	switch name {
	case "ref":
		if ref, ok := asRef(value); ok {
			arguments[name] = ref
		}
	case "value":
		if ref, ok := asRef(value); ok && h.step == "drag" {
			value = ref
		}
		arguments[name] = value
	case "accept", "action":
		arguments["action"] = tabAction(value)
	case "double":
		if value == true {
			arguments["action"] = "double_click"
		}
	case "direction":
		arguments["value"] = 600
		if value == "up" {
			arguments["value"] = -600
		}
	case "textgone":
		arguments["text"], arguments["state"] = value, "gone"
	case "fields":
		arguments[name] = fields(value)
	default:
		arguments[name] = value
	}
}

// complete adds examples for missing arguments. Instead of a ref, any description of an element is sufficient.
func (h *alias) complete(arguments object) {
	for name, example := range h.needs {
		described := arguments["text"] != nil || arguments["selector"] != nil || arguments["x"] != nil
		if arguments[name] == nil && (name != "ref" && name != "change" || !described) {
			arguments[name] = example
		}
	}
}

// asRef parses a ref in a value.
func asRef(value any) (uint32, bool) {
	switch v := value.(type) {
	case string:
		return refs.Parse(v)
	case json.Number:
		return refs.Parse(v.String())
	}
	return 0, false
}

// tabAction translates an action on a tab or a dialog.
func tabAction(value any) any {
	switch value {
	case true:
		return "accept"
	case false:
		return "dismiss"
	case "new", "create":
		return "open"
	}
	return value
}

// fields translates the fields of a form. Other servers identify them by uid, ref or name.
func fields(value any) any {
	list, ok := value.([]any)
	if !ok {
		return value
	}
	out := make([]any, 0, len(list))
	for _, item := range list {
		given, _ := item.(object)
		field := object{"value": given["value"]}
		for _, name := range []string{"ref", "uid", "index"} {
			if ref, ok := asRef(given[name]); ok {
				field["ref"] = ref
			}
		}
		if field["ref"] == nil {
			field["label"] = given["name"]
		}
		out = append(out, field)
	}
	return out
}
