// Package driver is the contract between the actor and the browser, as database/sql/driver is between database/sql and a database. It
// defines the interfaces that a browser implements, the events that it reports, and the values that both exchange.
//
// The package has no state and no guarantees of its own. Implementations are package browser, which drives Chromium, the pool of several
// browsers, and the fake of package actortest. They must follow the comments of the interfaces. Most importantly, every call returns when
// its context ends, and events arrive in the order in which the browser reported them. Errors that a client sees are of type *apierr.Error.
package driver
