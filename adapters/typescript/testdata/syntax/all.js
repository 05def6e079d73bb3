#!/usr/bin/env node
'use strict';
const fs = require('fs');
const { join, resolve: res } = require("path");
import def, * as all from './mod.js';
import('./lazy.js').then((m) => m.default);

/** Adds. */
function add(a, b = 2, { c, d: [e] } = {}, ...rest) {
  var total = a + b;
  return total;
}

class Base extends mixin(Parent) {
  static count = 0;
  #hidden = 1;
  field;
  constructor(name) {
    super();
    this.name = name;
    this.#hidden = 2;
  }
  get size() { return 1; }
  set size(v) { this.other = v; this.name = v; }
  static async *items() {}
  'quoted'() {}
}

exports.helper = function (x) { return x; };
exports.arrow = (y) => y;
exports.value = 1;
module.exports = { add, Base };
export { add as plus };
export default class extends Base {}
const View = ({ title }) => <div className="a" onClick={() => title}>{title} text</div>;
let x = 1, y;
for (const item of [1]) { }
const über = "ünïcode 😀", re = /a"b/;
async function* stream() { for await (const chunk of x) yield chunk; }
const lazy = async x => x;
