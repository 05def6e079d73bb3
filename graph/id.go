package graph

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// idVersion is the first part of every id. Another version means that ids are
// made in another way, so that an old one is not found instead of taken for another symbol.
const idVersion = "1"

// ownerHash is how many bytes of an owner's hash stand in a local's id.
const ownerHash = 6

// Identity is what the id of a symbol that is not local is made of. None of it
// comes from a server, so that an id stored now is the same tomorrow.
type Identity struct {
	Language  string
	Project   string // root of the build unit, relative to the workspace
	Qualified string
	Params    []string // parameter types as written; nil when it takes no parameter list
	Nth       int      // among equals in one file, 0 for the first
}

// MakeID returns the id of a symbol that is not local:
//
//	1:LANGUAGE:PROJECT:QUALIFIED(PARAMS)~N
func MakeID(i Identity) ID {
	var b strings.Builder
	b.WriteString(idVersion)
	b.WriteByte(':')
	b.WriteString(i.Language)
	b.WriteByte(':')
	b.WriteString(escaper.Replace(i.Project))
	b.WriteByte(':')
	b.WriteString(i.Qualified)
	if i.Params != nil {
		b.WriteByte('(')
		b.WriteString(strings.Join(i.Params, ","))
		b.WriteByte(')')
	}
	if i.Nth > 0 {
		fmt.Fprintf(&b, "~%d", i.Nth+1)
	}
	return ID(b.String())
}

// escaper keeps a folder's name from being read as the end of the project.
var escaper = strings.NewReplacer("%", "%25", ":", "%3A")

// MakeLocalID returns the id of a local variable or a parameter: its owner's
// id, its name within the owner, which of the owner's declarations of that name
// it is, and the OwnerHash of the owner's text, so that the id ends with the
// text it was made from.
func MakeLocalID(owner ID, name string, nth int, hash string) ID {
	return ID(string(owner) + "#" + name + "~" + strconv.Itoa(nth+1) + "@" + hash)
}

// OwnerHash is what stands for the text of a declaration in the ids of its locals.
func OwnerHash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:ownerHash])
}

// NameOf returns the bare name of the symbol that an id was made for, for
// suggestions when nothing has the id any more; it is empty for text that is no id.
func NameOf(id ID) string {
	parts := strings.SplitN(string(id), ":", 4)
	if len(parts) < 4 {
		return ""
	}
	rest := parts[3]
	if at := strings.LastIndexByte(rest, '#'); at >= 0 && strings.Contains(rest[at:], "@") {
		rest = rest[at+1:]
	}
	if at := strings.IndexAny(rest, "(~@"); at >= 0 {
		rest = rest[:at]
	}
	if at := strings.LastIndexAny(rest, `.:/#\`); at >= 0 {
		rest = rest[at+1:]
	}
	if at := strings.IndexByte(rest, '<'); at > 0 && strings.HasSuffix(rest, ">") {
		rest = rest[:at] // the number of type parameters
	}
	return rest
}

// Home says where symbols stand, for Identify.
type Home struct {
	Language  string
	Project   string // root of the build unit, relative to the workspace with "/", "." for the workspace itself
	Namespace string // qualified name, within the project, of what the file's top level stands in
	Alias     string // the same as sources write it, when that differs
	Separator string // between the parts of a qualified name
}

// Identify completes the symbols of one file, which are in order of position
// and whose Qualified and Container count from the file's top level: it puts
// the namespace before their qualified names and makes their ids. A local's
// owner is the innermost declaration around it that is not local.
// The slice is changed in place; content is the text that the symbols came from.
func Identify(symbols []Symbol, content []byte, h Home) {
	owners := make([]int, 0, 8) // declarations that may still own what follows
	type key struct {
		owner ID
		name  string
	}
	global, local, hashes := map[ID]int{}, map[key]int{}, map[ID]string{}
	merged := map[ID]ID{}
	for i := range symbols {
		s := &symbols[i]
		s.Language, s.Project = h.Language, h.Project
		if s.Local {
			continue
		}
		within := s.Qualified
		s.Qualified = join(h.Namespace, within, h.Separator)
		switch {
		case h.Alias != "":
			s.Alias = join(h.Alias, cmp.Or(s.Alias, within), h.Separator)
		case s.Alias != "":
			s.Alias = join(h.Namespace, s.Alias, h.Separator)
		}
		if s.Container != "" {
			s.Container = join(h.Namespace, s.Container, h.Separator)
		}
		identity := Identity{Language: h.Language, Project: h.Project, Qualified: s.Qualified, Params: s.Params}
		if s.Exact != "" {
			identity.Qualified = join(h.Namespace, s.Exact, h.Separator)
		}
		first := MakeID(identity)
		if id, ok := merged[first]; ok && s.Merged {
			s.ID = id
			continue
		}
		identity.Nth = global[first]
		global[first]++
		s.ID = MakeID(identity)
		if s.Merged {
			merged[first] = s.ID
		}
	}
	for i := range symbols {
		s := &symbols[i]
		if !s.Local {
			for len(owners) > 0 && symbols[owners[len(owners)-1]].Decl.End <= s.Decl.Start {
				owners = owners[:len(owners)-1]
			}
			owners = append(owners, i)
			continue
		}
		owner := ownerOf(symbols, owners, s.NameSpan.Start)
		within := s.Qualified
		if owner == nil {
			// It belongs to the file alone: an import's name.
			s.Qualified = join(h.Namespace, within, h.Separator)
			file := MakeID(Identity{Language: h.Language, Project: h.Project, Qualified: h.Namespace})
			s.ID = MakeLocalID(file, within, local[key{"", within}], OwnerHash([]byte(filepath.Base(s.Path)+"\n"+s.Signature)))
			local[key{"", within}]++
			continue
		}
		s.Qualified = join(owner.Qualified, within, h.Separator)
		s.Container = join(owner.Qualified, s.Container, h.Separator)
		k := key{owner.ID, within}
		if hashes[owner.ID] == "" {
			hashes[owner.ID] = OwnerHash(content[owner.Decl.Start:owner.Decl.End])
		}
		s.ID = MakeLocalID(owner.ID, within, local[k], hashes[owner.ID])
		local[k]++
	}
}

// ownerOf returns the innermost of the candidates whose declaration holds the offset.
func ownerOf(symbols []Symbol, candidates []int, offset int) *Symbol {
	for i := len(candidates) - 1; i >= 0; i-- {
		if c := &symbols[candidates[i]]; c.Decl.Start <= offset && offset < c.Decl.End {
			return c
		}
	}
	return nil
}

func join(prefix, name, separator string) string {
	switch {
	case prefix == "":
		return name
	case name == "":
		return prefix
	}
	return prefix + separator + name
}
