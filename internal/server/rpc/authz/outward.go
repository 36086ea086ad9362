package authz

import (
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/identity"
)

// sessionField is the name of the protobuf fields that hold a session's name.
const sessionField = "session_id"

// ToClientNames rewrites the session names in an answer to the names that the principal knows. It changes the message in place. The message
// must not be shared; messages that can name a session (see Names) never are.
func ToClientNames(m proto.Message, who identity.Principal) {
	if who.Prefix() != "" && m != nil {
		strip(m.ProtoReflect(), who)
	}
}

func strip(m protoreflect.Message, who identity.Principal) {
	if !Names(m.Descriptor()) {
		return
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case isName(field):
			m.Set(field, protoreflect.ValueOfString(strings.TrimPrefix(value.String(), who.Prefix())))
		case isError(field):
			m.Set(field, protoreflect.ValueOfString(ToClientNamesInText(value.String(), who)))
		case field.Message() == nil || field.IsMap():
		case field.IsList():
			for i := range value.List().Len() {
				strip(value.List().Get(i).Message(), who)
			}
		default:
			strip(value.Message(), who)
		}
		return true
	})
}

// isName reports whether a field holds the name of a session.
func isName(field protoreflect.FieldDescriptor) bool {
	return field.Kind() == protoreflect.StringKind && !field.IsList() &&
		(field.Name() == sessionField || field.Name() == "id" && field.Parent() == sessionMessage)
}

// isError reports whether a field holds an error message, which may name a session.
func isError(field protoreflect.FieldDescriptor) bool {
	return field.Kind() == protoreflect.StringKind && !field.IsList() && field.Name() == "error"
}

var sessionMessage protoreflect.Descriptor = (*domtapv1.Session)(nil).ProtoReflect().Descriptor()

// namesCache caches the results of Names.
var namesCache sync.Map

// Names reports whether messages of a type can name a session, at any depth.
func Names(kind protoreflect.MessageDescriptor) bool {
	if known, ok := namesCache.Load(kind.FullName()); ok {
		return known.(bool)
	}
	found := names(kind, map[protoreflect.FullName]bool{})
	namesCache.Store(kind.FullName(), found)
	return found
}

func names(kind protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool) bool {
	if seen[kind.FullName()] {
		return false
	}
	seen[kind.FullName()] = true
	for i := range kind.Fields().Len() {
		field := kind.Fields().Get(i)
		if isName(field) || isError(field) || field.Message() != nil && names(field.Message(), seen) {
			return true
		}
	}
	return false
}

// ToClientNamesInText rewrites the session names in an error message to the names that the principal knows.
func ToClientNamesInText(text string, who identity.Principal) string {
	prefix := who.Prefix()
	if prefix == "" || !strings.Contains(text, prefix) {
		return text
	}
	return strings.NewReplacer(`session "`+prefix, `session "`, "session "+prefix, "session ").Replace(text)
}
