// Package driver is the contract between the actor and the browser, as database/sql/driver is between database/sql
// and a database: interfaces that a browser implements, the events that it reports, and the values that both exchange.
//
// It guarantees nothing by itself and has no state. Implementations are package browser, which drives Chromium, the
// pool of several browsers, and the fake of package actortest. They owe what the comments of the interfaces
// say: above all that every call returns when its context ends, and that events arrive in the order in which the
// browser reported them. Errors that a client sees are *apierr.Error.
package driver
