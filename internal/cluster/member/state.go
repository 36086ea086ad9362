package member

import (
	"encoding/json"
	"fmt"

	"github.com/domtap/domtap/actor/restore"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/cluster/registry"
	"github.com/domtap/domtap/internal/sessions"
)

// state is the part of a session that another node needs in addition to the registry. Nodes of adjacent versions read it, so fields may be
// added but never change their meaning.
type state struct {
	// Whole reports that the session was stopped, so that the state contains all of its tabs as of that time.
	Whole    bool              `json:"whole,omitempty"`
	Settings sessions.Settings `json:"settings"`
	Storage  sessions.State    `json:"storage"`
	Tabs     []tabState        `json:"tabs,omitempty"`
}

// tabState is one tab.
type tabState struct {
	restore.Record
	// Restore reports whether the tab is restored when it loses its page.
	Restore bool `json:"restore,omitempty"`
}

// encode encodes a state.
func (s state) encode() ([]byte, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write the state of a session: %w", err)
	}
	return text, nil
}

// decode decodes a state. An empty text is a session without a saved state.
func decode(text []byte) (s state, err error) {
	if len(text) == 0 {
		return s, nil
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("read the state of a session: %w", err)
	}
	return s, nil
}

// restored returns the registered tabs to open again. If the session was stopped, these are all of its tabs. Otherwise they are the tabs
// with Restore, at the URL in the registry, which is newer than the saved one.
func (s state) restored(session string, registered map[string]registry.Tab) []tabState {
	saved := map[string]tabState{}
	for _, t := range s.Tabs {
		saved[t.ID] = t
	}
	var all []tabState
	for id, r := range registered {
		t, known := saved[id]
		if !r.Restore && !(s.Whole && known) {
			continue
		}
		if !known || !s.Whole && dom.WithoutUser(t.URL) != r.URL {
			t = tabState{Record: restore.Record{URL: r.URL, Viewport: t.Viewport, Refs: t.Refs}, Restore: true}
		}
		t.ID, t.Session, t.Restarts = id, session, 0
		t.Refs = max(t.Refs, dom.Ref(r.RefFloor))
		all = append(all, t)
	}
	return all
}
