// Package edit owns the user's files: it is the only writer of them. A plan
// becomes a transaction that ends, whatever dies meanwhile, with every file as
// before or every file as after, and that can be undone later.
//
// # The protocol
//
//  1. Begin locks the paths, reads every touched file and the plan's read set
//     again and refuses what moved (STALE_CONTENT) or must not be written.
//  2. The new contents are staged on the targets' own file system, with mode,
//     owner and extended attributes, and flushed.
//  3. One INTENT record in the journal names every path with the hash of its
//     content before and after. From here on recovery knows what to take back.
//  4. Apply exchanges each target with its staged slot in one rename: the slot
//     then holds the very inode that was replaced. Its hash proves that nobody
//     saved in between; if somebody did, it is exchanged back.
//  5. Commit reads every slot again, appends COMMITTED and flushes it: only
//     then is the caller told yes. The slots stay: they are the undo store.
//  6. Abort, a failed step and recovery share one rollback, which judges every
//     path by the contents of target and slot alone and so may run twice.
//
// Records live in the user's state folder, never in the workspace: a
// repository cannot ship a journal. Staged bytes live in .git/aura/ID of the
// workspace, or in .aura/ID, which ignores itself. The name of a staging
// folder carries a keyed hash, so that only our own leftovers are ever removed.
//
// What is put back, by rollback or by undo, keeps bytes, inode, mode, owner
// and attributes; its modification time becomes now. With the old time a build
// tool would take the undone code's artefacts for fresh.
//
// While a transaction over several files applies, a reader from outside can
// see some files new and some old; POSIX offers no way around that.
//
// # What it must not know
//
// Language servers, validation, operations, clients. Callers plan and check.
//
// # Goroutines
//
// None: every call works on the caller's goroutine, and all system calls of a
// transaction are made by it (the crash sweep depends on that).
package edit
