// Package transact is the one pipeline through which every change of the
// user's files goes: plan, quick check, preview, shadow build, begin, apply,
// build in place where no shadow was possible, commit or abort, answer.
//
// It owns the order of those steps and what their outcomes mean, and the gates
// that keep one change from being judged against a tree that another one is
// about to take back. It must not know operations, languages or servers: what
// it needs of them comes as functions with the plan. Only daemon/edit writes.
//
// It starts no goroutines: a call works on its caller's.
package transact
