// Package definitions contains the descriptions of the tools for hosts and models: texts, schemas, and a working example call of each tool.
// It contains only data.
package definitions

// Definition describes a tool to a host.
type Definition struct {
	Description string
	// Schema is the JSON schema of the arguments. Its type is object.
	Schema string
}

// Of returns the definition of a tool. It returns false if there is no tool of that name.
func Of(tool string) (Definition, bool) {
	d, known := definitions[tool]
	return d, known
}

// Example returns a working call of a tool, or "" if none is known.
func Example(tool string) string { return examples[tool] }

// definitions maps tool names to definitions. Each word costs tokens in every session, so none repeats what a name already states.
// TestDefinitionsAreCheap counts the tokens.
var definitions = map[string]Definition{
	"browser_navigate": {
		"Load a URL and show its elements with refs, its content as Markdown, or nothing.",
		`{"type":"object","properties":{
			"url":{"type":"string"},
			"tab":{"type":"string","description":"default: current"},
			"show":{"type":"string","enum":["elements","content","none"],"default":"elements"},
			"wait_until":{"type":"string","enum":["load","commit","dom_content_loaded","network_idle"]},
			"timeout":{"type":"number","description":"seconds"}},
		"required":["url"]}`,
	},
	"browser_tab": {
		"List, open, select and close tabs; go back, forward or reload; accept or dismiss a dialog.",
		`{"type":"object","properties":{
			"action":{"type":"string","enum":["list","open","select","close","back","forward","reload","accept","dismiss"]},
			"tab":{"type":"string"},
			"url":{"type":"string"},
			"value":{"type":"string","description":"prompt answer"}},
		"required":["action"]}`,
	},
	"browser_get_elements_compact": {
		"Show the page: [ref] name (role states) ‹context›. No role means link. Refs stay with their elements.",
		`{"type":"object","properties":{
			"tab":{"type":"string"},
			"incremental":{"type":"boolean","description":"only changes since you last looked"},
			"interactive_only":{"type":"boolean","default":true},
			"max_tokens":{"type":"integer","default":8000},
			"format":{"type":"string","enum":["dense","lines","tree"]},
			"hrefs":{"type":"boolean"},
			"root_ref":{"type":"integer"},
			"cursor":{"type":"string","description":"continues truncated output (next: …)"}}}`,
	},
	"browser_find": {
		"Find elements and text by words. Cheaper than the page.",
		`{"type":"object","properties":{
			"tab":{"type":"string"},
			"query":{"type":"string","description":"delete grace finds Delete near Grace"},
			"within":{"type":"string"},
			"max_results":{"type":"integer"}},
		"required":["query"]}`,
	},
	"browser_interact": {
		"Do up to 32 steps. Returns what a person notices (! alert: …) and changes: + new, - gone, ~ now ← before. Target: ref, role with name, text, label, selector, or x and y.",
		`{"type":"object","properties":{
			"tab":{"type":"string"},
			"steps":{"type":"array","items":{"type":"object","properties":{
				"action":{"type":"string","enum":["click","double_click","hover","type","fill","press","select","check","uncheck","scroll","drag","upload","wait","read","screenshot","back","mouse_down","mouse_move","mouse_up"]},
				"ref":{"type":"integer"},
				"role":{"type":"string"},
				"name":{"type":"string"},
				"text":{"type":"string"},
				"label":{"type":"string"},
				"selector":{"type":"string"},
				"within":{"type":"string","description":"text or ref around it"},
				"nth":{"type":"integer"},
				"x":{"type":"number"},
				"y":{"type":"number"},
				"value":{"type":"string","description":"click: right, triple, hold 1s; type, fill: text; press: key (Control+a hold 1s); select: option; upload: path; scroll: pixels down; drag: ref or x,y; mouse_move: dx,dy"},
				"waypoints":{"type":"array","items":{"type":"string"},"description":"drag: refs or x,y to pass"},
				"values":{"type":"array","items":{"type":"string"}},
				"submit":{"type":"boolean","description":"then press Enter"},
				"gone":{"type":"boolean"},
				"network_idle":{"type":"boolean"},
				"timeout":{"type":"number","description":"wait: seconds"}},
			"required":["action"]}}},
		"required":["steps"]}`,
	},
	"browser_fill_form": {
		"Fill fields of any kind and submit.",
		`{"type":"object","properties":{
			"tab":{"type":"string"},
			"fields":{"type":"array","items":{"type":"object","properties":{
				"label":{"type":"string"},
				"ref":{"type":"integer"},
				"selector":{"type":"string"},
				"within":{"type":"string"},
				"value":{"type":"string","description":"text, option, true/false, date, path"},
				"values":{"type":"array","items":{"type":"string"}}}}},
			"submit":{"type":"boolean"}},
		"required":["fields"]}`,
	},
	"browser_wait": {
		"Wait until all given conditions hold.",
		`{"type":"object","properties":{
			"tab":{"type":"string"},
			"text":{"type":"string"},
			"role":{"type":"string"},
			"name":{"type":"string"},
			"selector":{"type":"string"},
			"ref":{"type":"integer"},
			"state":{"type":"string","enum":["present","gone","visible","enabled"],"default":"present"},
			"url":{"type":"string","description":"part, or pattern with *"},
			"network_idle":{"type":"boolean"},
			"quiet":{"type":"number","description":"seconds without changes"},
			"change":{"type":"boolean"},
			"timeout":{"type":"number","description":"seconds"}}}`,
	},
	"browser_read_page": {
		"Read a page or download: content (Markdown), interactive (tree) or visual (screenshot with refs).",
		`{"type":"object","properties":{
			"tab":{"type":"string"},
			"mode":{"type":"string","enum":["auto","content","interactive","visual"]},
			"max_tokens":{"type":"integer","default":1500},
			"outline":{"type":"boolean","description":"headings"},
			"cursor":{"type":"string","description":"continue"},
			"download":{"type":"string"},
			"path":{"type":"string"}}}`,
	},
	"browser_log": {
		"Show console errors and warnings and failed requests since the last call.",
		`{"type":"object","properties":{
			"tab":{"type":"string"},
			"all":{"type":"boolean","description":"every message and request"}}}`,
	},
	"browser_get_dom": {
		"Show elements with all details (box, states, attributes) as JSON lines. Costs more than the compact form.",
		`{"type":"object","properties":{
			"tab":{"type":"string"},
			"viewport_only":{"type":"boolean"},
			"interactive_only":{"type":"boolean","default":true},
			"full_snapshot":{"type":"boolean","description":"no filter, no limits"},
			"incremental":{"type":"boolean","description":"only changes since you last looked"},
			"max_elements":{"type":"integer","default":300},
			"max_tokens":{"type":"integer","default":8000},
			"root_ref":{"type":"integer"},
			"include_attributes":{"type":"array","items":{"type":"string"}},
			"cursor":{"type":"string"}}}`,
	},
	"browser_screenshot": {
		"Take a screenshot of the viewport, the full page or an element. marks draws refs onto it.",
		`{"type":"object","properties":{
			"tab":{"type":"string"},
			"marks":{"type":"boolean"},
			"full_page":{"type":"boolean"},
			"ref":{"type":"integer"},
			"format":{"type":"string","enum":["jpeg","png","webp"]},
			"quality":{"type":"integer"}}}`,
	},
	"browser_extract": {
		"Extract data as JSON by a schema, by selectors (\"a@href\" for an attribute), or from a table.",
		`{"type":"object","properties":{
			"tab":{"type":"string"},
			"schema":{"type":"object","description":"field → selector, or {selector | role+name, attribute, all, type, fields}"},
			"selectors":{"type":"array","items":{"type":"string"}},
			"table":{"type":"object","properties":{"headers":{"type":"array","items":{"type":"string"}},"caption":{"type":"string"}}},
			"root_ref":{"type":"integer"},
			"max_rows":{"type":"integer","default":1000}}}`,
	},
	"browser_storage": {
		"List cookies, local or session storage by name. Get, set or delete entries.",
		`{"type":"object","properties":{
			"action":{"type":"string","enum":["list","get","set","delete"]},
			"area":{"type":"string","enum":["cookies","local","session"],"default":"cookies"},
			"name":{"type":"string"},
			"value":{"type":"string"},
			"domain":{"type":"string","description":"for cookies"},
			"origin":{"type":"string","description":"for local, session: https://example.com"},
			"all":{"type":"boolean","description":"delete everything"},
			"tab":{"type":"string","description":"for session"}},
		"required":["action"]}`,
	},
	"browser_search": {
		"Search the web without a tab. Returns titles, hosts, dates, URLs and extracts.",
		`{"type":"object","properties":{
			"query":{"type":"string"},
			"kind":{"type":"string","enum":["web","news","images","places","shopping"],"default":"web"},
			"max_results":{"type":"integer","default":10},
			"max_tokens":{"type":"integer","default":1500}},
		"required":["query"]}`,
	},
	"browser_route": {
		"Block, mock or rewrite the requests of pages.",
		`{"type":"object","properties":{
			"action":{"type":"string","enum":["block","mock","rewrite","list","remove"]},
			"url":{"type":"string","description":"pattern: **/api/*, https://a.example/**"},
			"types":{"type":"array","items":{"type":"string"},"description":"image, font, fetch, xhr, document, …"},
			"method":{"type":"string"},
			"status":{"type":"integer","default":200},
			"body":{"type":"string"},
			"headers":{"type":"array","items":{"type":"string"},"description":"mock: of the response; rewrite: to set"},
			"to":{"type":"string","description":"rewrite: the new URL"},
			"route":{"type":"string","description":"remove: r1, or all"}},
		"required":["action"]}`,
	},
	"browser_page_tools": {
		"List the tools that the page itself offers.",
		`{"type":"object","properties":{"tab":{"type":"string"}}}`,
	},
	"browser_call_page_tool": {
		"Call a tool that the page offers. Returns what the tool says (> …), whether that agrees with what was observed, and changes.",
		`{"type":"object","properties":{
			"tab":{"type":"string"},
			"name":{"type":"string"},
			"input":{"type":"object"},
			"frame":{"type":"string","description":"if several frames have the name"},
			"timeout":{"type":"number","description":"seconds"}},
		"required":["name"]}`,
	},
	"browser_batch": {
		"Read up to 50 URLs in parallel in temporary tabs, or extract data by a schema from each.",
		`{"type":"object","properties":{
			"urls":{"type":"array","items":{"type":"string"},"maxItems":50},
			"mode":{"type":"string","enum":["auto","content","interactive"]},
			"max_tokens":{"type":"integer","default":1500,"description":"each"},
			"schema":{"type":"object","description":"as in browser_extract"},
			"parallel":{"type":"integer","default":4},
			"timeout":{"type":"number","description":"seconds each"}},
		"required":["urls"]}`,
	},
}

// examples maps tool names to working calls, for errors without a better suggestion.
var examples = map[string]string{
	"browser_navigate":             `{"url":"https://example.com"}`,
	"browser_tab":                  `{"action":"list"}`,
	"browser_get_elements_compact": `{}`,
	"browser_interact":             `{"steps":[{"action":"click","ref":12}]}`,
	"browser_fill_form":            `{"fields":[{"label":"E-mail","value":"ada@example.com"}]}`,
	"browser_wait":                 `{"text":"Thank you"}`,
	"browser_read_page":            `{"mode":"content"}`,
	"browser_find":                 `{"query":"sign in"}`,
	"browser_log":                  `{}`,
	"browser_get_dom":              `{}`,
	"browser_screenshot":           `{}`,
	"browser_extract":              `{"selectors":["h1","a@href"]}`,
	"browser_batch":                `{"urls":["https://example.com"]}`,
	"browser_storage":              `{"action":"list"}`,
	"browser_search":               `{"query":"go release notes"}`,
	"browser_route":                `{"action":"block","url":"**/*.png"}`,
	"browser_page_tools":           `{}`,
	"browser_call_page_tool":       `{"name":"add_to_cart","input":{"item":"tea"}}`,
}
