export class Half {
  private name: string
  good(x: number): string { return "ok }
  after(): void {
    const y = (1,
  }

function top(a, {
interface Shape { kind: ; area(): number
const z = `open ${ z
