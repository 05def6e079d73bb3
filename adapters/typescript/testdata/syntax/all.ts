#!/usr/bin/env node
/** The file. */
import def, { named, other as renamed } from "./mod";
import * as ns from 'pkg';
import type { T1 } from "./types";
import fs = require("fs");
import "side-effect";
import Short = ns.Deep.Name;
export { localLater, localLater as publicName };
export { moved as movedAs, kept } from "./elsewhere";
export * from "./all";
export * as everything from "./all";

/**
 * How many.
 * @see Order
 */
export const MAX = 10, MIN: number = 1;
let counter = 0;
var old: string | undefined;
const { a, b: { c, ...rest }, d = 4, "quoted": e } = obj, [f, , g = 1, ...hs] = list;
[a, counter] = [counter, a];
({ a } = obj);
const localLater = "ünïcode 😀";

@Injectable({ providedIn: "root" })
// between
@Other()
export abstract class Order<T extends Base = Base, const K = string> extends pkg.Parent<T> implements IOne, ITwo<T> {
  static readonly VERSION: string = "1";
  private readonly name: string;
  protected items?: T[];
  #secret = 1;
  declare legacy: number;
  @Input() value!: string;
  handler = async (ev: Event): Promise<void> => { const inner = ev; };
  [computed] = 1;
  [key: string]: unknown;

  /** Makes one. */
  constructor(private readonly store: Store, public count = 0, plain: string, { x, y: [z] }: P, ...more: number[]) {
    super();
  }

  get size(): number { return this.#secret; }
  set size(v: number) { this.#secret = v; }

  find(key: string): T;
  find(key: number): T;
  @Log
  find(this: Order<T>, key: any, opt?: boolean): T {
    for (const [k, v] of Object.entries(this)) { let q = k; }
    for (const i in {}) { }
    for (let n = 0; n < 1; n++) { }
    try { } catch (err) { } finally { const fin = 1; }
    try { } catch ({ message }) { }
    const arrow = x => x + 1, tuple = ({ p }, [r]) => p;
    function nested<U>(u: U) { return u; }
    class Local { field = 1; method() { return this.field; } }
    switch (key) { case 1: { const s = 1; } default: const t = 2; }
    label: for (;;) break label;
    return ((w: number) => w)(1) as any;
  }

  abstract area(scale?: number): number;
  static async *gen<Y>(): AsyncGenerator<Y> { yield 1; }
  static { const st = 1; }
}

export interface Shape<T = unknown> extends Base, ns.Deep<T> {
  readonly kind: "circle" | "square";
  area?(scale: number): number;
  nested: { inner: string; call(a: number): void };
  new (x: number): Shape;
  (y: string): void;
  get prop(): string;
}
interface Shape<T> { merged: T }

export type Mapped<T> = { readonly [P in keyof T]?: T[P] extends infer R ? R : never };
type Fn = (this: Window, ev: Event, ...rest: unknown[]) => void;
export const enum Color { Red, Green = "g", "quoted-member" }
declare enum Other { A }

export namespace Outer.Inner {
  export const visible = 1;
  const hidden = 2;
  export function helper() { const local = 1; }
  namespace Deep { export class C {} }
}
declare module "external" {
  export function external(a: string): void;
  interface Window { added: number }
}
declare global { interface Window { glob: string } }
declare function ambient(x: number): string;
declare const injected: string;
export declare class Declared { method(): void; }

export function overload(a: string): string;
export function overload(a: number): number;
export function overload(a: any): any { return a; }
export default async function main<T>({ opt = 1, ...others }: Options, cb: (err: Error) => void): Promise<T> {
  const v = `text ${inner(`deep ${x}`)} tail`;
  return v;
}
export function* generator() {}
function isString(x: unknown): x is string { return true; }
function assertOk(x: unknown): asserts x {}
const arrow = async <T,>(x: T): Promise<T> => { return x; };
export const fnExpr = function named(n: number) { return n; };
const Klass = class Hidden extends Base { prop = 1 };
const api = {
  get: (url: string) => url,
  post(url: string) { return url; },
  plain: 1, short,
  get computed() { return 1; },
  async ["dyn"]() { const d1 = 1; },
} satisfies Api;
const config = { debug: true, make: (n: number) => n };
describe("suite", () => {
  const inSuite = 1;
  it("works", function () { class InTest {} });
});
register(class Anonymous { m() {} });
if (MAX) { const block = 1; var hoisted = 2; }
