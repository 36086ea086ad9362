package sessions

import (
	"crypto/rand"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/domtap/domtap/actor/apierr"
)

// registry holds the existing sessions and assigns their ids. Sessions.mu guards it.
type registry struct {
	// max, quota and elsewhere are copied from Config.
	max       int
	quota     func(id string) (client string, sessions int)
	elsewhere func(client string) int
	// all holds the sessions, including starting and ending ones: the default session first, then oldest first.
	all []*session
	// generated counts the ids generated here.
	generated int
	// random makes generated ids random, because other processes generate ids, too.
	random bool
}

// add adds a session that is not ready yet. If id is empty, add chooses one.
func (r *registry) add(id string) (*session, error) {
	if len(r.all) >= r.max {
		return nil, apierr.Exceeded("sessions", r.max, "there are %d sessions, which is the limit: close one first, or raise --max-sessions of domtap serve", len(r.all))
	}
	if err := r.withinQuota(id); err != nil {
		return nil, err
	}
	if id != "" && r.index(id) >= 0 {
		return nil, apierr.Errorf(apierr.Exists, "session %q already exists: use it, close it, or choose another id", id)
	}
	if id == "" && r.random {
		id = randomName()
	}
	for id == "" || r.index(id) >= 0 {
		r.generated++
		id = "s" + strconv.Itoa(r.generated)
	}
	one := newSession(id)
	r.all = append(r.all, one)
	return one, nil
}

// randomName returns a globally unique name with 60 random bits.
func randomName() string { return "s-" + strings.ToLower(rand.Text()[:12]) }

// withinQuota returns an error if the client of a new session has reached its quota.
func (r *registry) withinQuota(id string) error {
	client, most := r.quota(id)
	if client == "" {
		return nil
	}
	has := r.elsewhere(client)
	for _, one := range r.all {
		if owner, _ := r.quota(one.id); owner == client {
			has++
		}
	}
	if has < most {
		return nil
	}
	err := apierr.Exceeded("sessions_per_client", most,
		"this client has %d sessions, which is the limit: close one first, or raise --max-sessions-per-client of domtap serve", has)
	err.Client = client
	return err
}

// index returns the index of a session, even if it is starting or ending. It returns -1 if there is none.
func (r *registry) index(id string) int {
	return slices.IndexFunc(r.all, func(one *session) bool { return one.id == id })
}

// find returns a ready session and counts that as a use. An empty id selects the default session.
func (r *registry) find(id string) (*session, error) {
	if id == "" {
		id = Default
	}
	if i := r.index(id); i >= 0 && r.all[i].ready {
		r.all[i].used = time.Now()
		return r.all[i], nil
	}
	return nil, apierr.Unknown("session", "unknown session %q: list the sessions, or create it", id)
}

// ready returns the sessions that are ready.
func (r *registry) ready() []*session {
	return slices.DeleteFunc(slices.Clone(r.all), func(one *session) bool { return !one.ready })
}

func (r *registry) remove(one *session) {
	r.all = slices.DeleteFunc(r.all, func(other *session) bool { return other == one })
}
