//go:build cgo

package registry

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/auralsp/aura/graph/syntax"
)

// TestSyntax_Resolved: what a file's imports say of the bases that its types
// write, in words of the whole project.
func TestSyntax_Resolved(t *testing.T) {
	for _, c := range []struct {
		path, source string
		want         []string
	}{
		{"a/b.go", "package b\nimport (\"context\"; \"gopkg.in/yaml.v3\"; \"example.com/x/v2\"; q \"example.com/y\"; \"example.com/go-sqlite\")\n" +
			"type T struct { context.Context; *yaml.Node; x.X[int]; q.Q; Local; sqlite.DB; unknown.U }",
			[]string{"context.Context", "gopkg.in/yaml.v3.Node", "example.com/x/v2.X", "example.com/y.Q", "", "example.com/go-sqlite.DB", ""}},
		{"shop/models/user.py", "from django.db import models\nfrom .base import Base as B, Other\nfrom ..util import mix\nfrom . import sibling\nimport a.b.c\nimport x.y as z\nfrom star import *\n" +
			"class User(models.Model, B, Other[int], mix(Base), sibling.S, a.b.c.D, z.Z, Star, metaclass=Meta): pass",
			[]string{"django.db.models.Model", "shop.models.base.Base", "shop.models.base.Other", "shop.util.mix", "shop.models.sibling.S", "a.b.c.D", "x.y.Z", ""}},
		{"shop/models/__init__.py", "from .base import Base\nfrom ..util import Util\nclass A(Base, Util): pass", []string{"shop.models.base.Base", "shop.util.Util"}},
		{"src/store/mod.rs", "use std::fmt;\nuse crate::api::{self, Saver as S, deep::{Loader}};\nuse super::up::Upper;\n" +
			"pub trait T: fmt::Display + S + api::Reader<u8> + Loader + Upper + self::inner::I + crate::z::Z + Sized {}",
			[]string{"std::fmt::Display", "api::Saver", "api::Reader", "api::deep::Loader", "up::Upper", "store::inner::I", "z::Z", ""}},
		{"src/models/user.ts", "import Base, { A as B, type C } from './base.js';\nimport * as ns from '../lib';\nimport { Component } from 'react';\n" +
			"export class User extends Base implements B, C<string>, ns.Deep, Plain {}\nexport interface P extends Component {}",
			[]string{"src/models/base.default", "src/models/base.A", "src/models/base.C", "src/lib.Deep", "", "react.Component"}},
		{"src/models/user.js", "const EventEmitter = require('events');\nconst { Base, Other: O } = require('./base');\n" +
			"class A extends EventEmitter {}\nclass B extends EventEmitter.Deep {}\nclass C extends Base {}\nclass D extends O {}",
			[]string{"events", "events.Deep", "src/models/base.Base", "src/models/base.Other"}},
		{"User.cs", "using System;\nusing Models = Shop.Core.Models;\nusing Root = Shop.Core.Entity;\nclass User : Models.Base<int>, Root, IDisposable {}",
			[]string{"Shop.Core.Models.Base", "Shop.Core.Entity", ""}},
	} {
		t.Run(c.path, func(t *testing.T) {
			var spec *syntax.Spec
			for _, l := range Languages() {
				if slices.Contains(l.Language().Extensions, filepath.Ext(c.path)) {
					spec = l.Syntax()
				}
			}
			tree, err := spec.Read("/w/"+c.path, []byte(c.source), syntax.Place{Language: "x", Root: "/w", Project: "."})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range tree.Symbols {
				if s.Resolved == nil && s.Bases != nil {
					got = append(got, make([]string, len(s.Bases))...)
				}
				got = append(got, s.Resolved...)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
