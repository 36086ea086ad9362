package tools

import (
	"encoding/json"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/lazyregexp"
	"github.com/domtap/domtap/internal/truncate"
)

// checkInput checks an input against the schema of a tool. It fails with an *apierr.Error of kind Invalid.
//
// The page wrote the schema. A schema that refers to itself could make the check endless, so schemas with references, and schemas that are
// no valid JSON Schema, check nothing.
func checkInput(tool driver.Tool, input string) error {
	if tool.Schema == "" || strings.Contains(tool.Schema, `Ref"`) || strings.Contains(tool.Schema, `ref"`) || strings.Contains(tool.Schema, `\u`) {
		return nil
	}
	var schema jsonschema.Schema
	if json.Unmarshal([]byte(tool.Schema), &schema) != nil {
		return nil
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil
	}
	var instance any
	if err := json.Unmarshal([]byte(input), &instance); err != nil {
		return invalid(tool.Name, err)
	}
	if err := resolved.Validate(instance); err != nil {
		return invalid(tool.Name, err)
	}
	return nil
}

// path matches the parts of an error of the schema library that lead to a property.
var path = lazyregexp.New(`validating (?:root|/properties/)([^: ]*): `)

// invalid returns the error for an input that does not match a tool's schema. It names the property.
func invalid(tool string, err error) error {
	why := path().ReplaceAllStringFunc(err.Error(), func(part string) string {
		if name := path().FindStringSubmatch(part)[1]; name != "" {
			return name + ": "
		}
		return ""
	})
	e := apierr.Errorf(apierr.Invalid, "input_json: does not match the schema of tool %q: %s", tool, truncate.Runes(why, maxReason))
	e.Field = "input_json"
	return e
}

// maxReason limits the reason why an input was rejected, in characters.
const maxReason = 300
