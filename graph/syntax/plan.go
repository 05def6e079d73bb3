package syntax

import (
	"fmt"
	"slices"
	"strings"

	"github.com/auralsp/aura/graph"
)

// capture is one captured node of one match of a query.
type capture struct {
	node       uint64 // identifies the node within its tree
	start, end uint32 // bytes
	match      uint32
	pattern    uint16
	name       uint16 // index of the capture's name
	symbol     uint16 // kind of the node
}

func (c *capture) span() graph.Span { return graph.Span{Start: int(c.start), End: int(c.end)} }

// role is what a capture says of its node.
type role uint8

const (
	noRole role = iota
	// Of the text.
	roleIdentifier    // @identifier: an identifier in code
	roleComment       // @comment
	roleString        // @string
	roleInterpolation // @interpolation: code within a string
	roleCall          // @call: an identifier that names what is called
	// Of declarations. They have their kind behind a dot.
	roleDefinition // @definition.KIND: a declaration; its name is @name or, without one, the node itself
	roleBound      // @bound.KIND: a name within a pattern, declared by the innermost @binding around it
	roleAssigned   // @assigned.KIND: likewise, unless its scope declares the name already
	roleMember     // @member.KIND: likewise, declared in the class around the function that it stands in
	// Of what stands around declarations.
	roleBinding   // @binding: the declaration of the names bound within
	roleContainer // @container: names what is declared within by its @name, is no declaration itself
	roleScope     // @scope: what is declared within is local
	roleFollowing // @following: a container whose content follows it, up to the end of what holds it
	roleExcluded  // @excluded: a name that is of an outer scope, whatever is assigned to it here
	roleExported  // @exported: a name that the file exports elsewhere than where it declares it
	// Of a range: the declaration at @inner reaches as far as @outer, or as far
	// as @statement if that has no other @inner.
	roleInner
	roleOuter
	roleStatement
	// Facts of the node captured as @of or, in its own match, of the declaration
	// or container.
	roleOf
	roleName
	roleQualifier  // @qualifier: stands before the name in the source, and in the qualified name
	roleTrait      // @trait: tells declarations of one name apart, is left out of the alias
	roleArity      // @arity: the list of type parameters, when types of one name differ by their number
	roleBody       // @body
	roleParameters // @parameters: the list, with or without the parameters in it
	roleResult     // @result: the type that a call gives
	roleType       // @type: of a value, or of a parameter
	roleModifier   // @modifier, any number
	roleAttribute  // @attribute, any number; without an owner it stands before its declaration
	roleBase       // @base, any number
	roleDoc        // @doc: the node that documents
	roleParameter  // @parameter: one parameter of the @parameters in its match
	// Of the file.
	roleImport   // @import: a statement
	rolePath     // @path
	roleAlias    // @alias: the name in the file of all that is imported or, with @imported, of that
	roleImported // @imported: a name in the module at @path; the path itself when all of it is written to use it
	roleDefault  // @default: the name in the file of what the module gives without a name
	rolePackage  // @package: the name in the package clause
	roles
)

// simple gives the roles without a kind their names in queries.
var simple = map[string]role{
	"identifier": roleIdentifier, "comment": roleComment, "string": roleString, "interpolation": roleInterpolation, "call": roleCall,
	"binding": roleBinding, "container": roleContainer, "scope": roleScope, "following": roleFollowing, "excluded": roleExcluded, "exported": roleExported,
	"inner": roleInner, "outer": roleOuter, "statement": roleStatement,
	"of": roleOf, "name": roleName, "qualifier": roleQualifier, "trait": roleTrait, "arity": roleArity, "body": roleBody, "parameters": roleParameters, "result": roleResult,
	"type": roleType, "modifier": roleModifier, "attribute": roleAttribute, "base": roleBase, "doc": roleDoc, "parameter": roleParameter,
	"import": roleImport, "path": rolePath, "alias": roleAlias, "imported": roleImported, "default": roleDefault, "package": rolePackage,
}

var kinded = map[string]role{"definition": roleDefinition, "bound": roleBound, "assigned": roleAssigned, "member": roleMember}

// faultQuery finds what cannot be parsed. It is not part of the others: its
// second pattern looks at every node, which takes as long as all of them.
const faultQuery = "(ERROR) @fault (MISSING) @fault"

// fault is the pattern and the name of what faultQuery captures.
const fault = 0xffff

// meaning is what one capture's name says.
type meaning struct {
	role role
	kind graph.Kind
}

// predicate is one condition of a pattern.
type predicate struct {
	name    uint16 // of the capture whose text is compared
	words   []string
	exclude bool
}

// plan is what a query's captures and patterns mean.
type plan struct {
	names      []meaning
	predicates [][]predicate // by pattern
}

// newPlan reads the names of captures and the conditions of patterns, which
// are words with "@" before a capture's name and "" behind each condition.
func newPlan(names []string, conditions [][]string) (plan, error) {
	p := plan{names: make([]meaning, len(names)), predicates: make([][]predicate, len(conditions))}
	for i, n := range names {
		first, kind, dotted := strings.Cut(n, ".")
		m := meaning{role: simple[first]}
		if dotted {
			m = meaning{role: kinded[first], kind: graph.Kind(kind)}
		}
		if m.role == noRole && !strings.HasPrefix(n, "_") { // as in "@_x", for a predicate alone
			return plan{}, fmt.Errorf("query: nothing is known of the capture @%s", n)
		}
		p.names[i] = m
	}
	for i, words := range conditions {
		for len(words) > 0 {
			end := slices.Index(words, "")
			if end < 0 {
				end = len(words)
			}
			c, err := newPredicate(names, words[:end])
			if err != nil {
				return plan{}, err
			}
			p.predicates[i] = append(p.predicates[i], c)
			words = words[min(end+1, len(words)):]
		}
	}
	return p, nil
}

func newPredicate(names, words []string) (predicate, error) {
	fail := func() (predicate, error) {
		return predicate{}, fmt.Errorf("query: the predicate (#%s) is not understood", strings.Join(words, " "))
	}
	if len(words) < 3 {
		return fail()
	}
	at := slices.IndexFunc(names, func(n string) bool { return "@"+n == words[1] })
	if at < 0 {
		return fail()
	}
	p := predicate{name: uint16(at), words: words[2:]}
	switch words[0] {
	case "eq?", "any-of?":
	case "not-eq?", "not-any-of?":
		p.exclude = true
	default:
		return fail()
	}
	return p, nil
}

// holds reports whether a match satisfies the conditions of its pattern.
func (p *plan) holds(match []capture, src []byte) bool {
	for _, c := range p.predicates[match[0].pattern] {
		for i := range match {
			if match[i].name != c.name {
				continue
			}
			text := src[match[i].start:match[i].end]
			found := slices.ContainsFunc(c.words, func(w string) bool { return w == string(text) })
			if found == c.exclude {
				return false
			}
		}
	}
	return true
}
