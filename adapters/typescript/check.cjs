// Checks TypeScript projects by the compiler's own API and prints what it finds,
// a JSON object a line. It differs from `tsc -p` in three ways: it emits nothing,
// also where projects reference each other, whose sources are read instead of
// what was built of them; an error in the configuration or in the syntax of one
// file does not hide the errors of others; columns count UTF-8 bytes.
//
//   node check.cjs FOLDER CACHE [CONFIG...] [-- FILE...]
//
// FOLDER is the TypeScript to use, empty for the one whose tsc is in PATH; CACHE
// is where what is known of earlier runs is kept, empty for nowhere. The files
// behind "--" belong to no project: their syntax is checked.
"use strict";
const fs = require("fs"), path = require("path"), crypto = require("crypto");

const [folder, cache, ...rest] = process.argv.slice(2);
const split = rest.indexOf("--");
const configs = split < 0 ? rest : rest.slice(0, split);
const loose = split < 0 ? [] : rest.slice(split + 1);
const lines = [];
const print = (o) => lines.push(JSON.stringify(o));

function load() {
  const tried = folder ? [path.join(folder, "lib", "typescript.js")] : [];
  for (const dir of (process.env.PATH || "").split(path.delimiter)) {
    if (!path.isAbsolute(dir)) continue;
    let bin;
    try {
      bin = fs.realpathSync(path.join(dir, "tsc"));
      const text = fs.statSync(bin).size < 16384 ? fs.readFileSync(bin, "utf8") : "";
      const script = /["' ](\/[^"'\n]*\/typescript\/bin\/tsc|\/[^"'\n]*\/\.bin\/tsc)["' ]/.exec(text);
      if (script) bin = fs.realpathSync(script[1]);
    } catch { continue; }
    tried.push(path.join(path.dirname(bin), "..", "lib", "typescript.js"));
  }
  for (const file of tried) {
    if (!fs.existsSync(file)) continue;
    const ts = require(file);
    if (ts.createIncrementalProgram && ts.getParsedCommandLineOfConfigFile) return ts;
  }
  return null;
}

const ts = load();
if (!ts) {
  process.stdout.write('{"missing":true}\n');
  process.exit(3);
}

let failed = false;
function report(d) {
  const out = { code: d.code, message: ts.flattenDiagnosticMessageText(d.messageText, "\n") };
  if (d.category === ts.DiagnosticCategory.Warning) out.warning = true;
  else if (d.category === ts.DiagnosticCategory.Error) failed = true;
  else return;
  if (d.file) {
    const { line, character } = ts.getLineAndCharacterOfPosition(d.file, d.start || 0);
    const start = ts.getPositionOfLineAndCharacter(d.file, line, 0);
    out.file = path.resolve(d.file.fileName);
    out.line = line + 1;
    out.column = Buffer.byteLength(d.file.text.slice(start, start + character)) + 1;
  }
  print(out);
}

function check(config) {
  const extra = { noEmit: true };
  let known;
  if (cache) {
    const name = crypto.createHash("sha256").update(ts.version + "\0" + config).digest("hex").slice(0, 32);
    known = path.join(cache, name + ".tsbuildinfo");
    extra.incremental = true;
    extra.tsBuildInfoFile = known;
  }
  // What is deprecated is no error that a change makes.
  if (Number(ts.versionMajorMinor) >= 6) extra.ignoreDeprecations = "6.0";
  else if (Number(ts.versionMajorMinor) >= 5) extra.ignoreDeprecations = "5.0";
  const unread = [];
  const parsed = ts.getParsedCommandLineOfConfigFile(config, extra, { ...ts.sys, onUnRecoverableConfigFileDiagnostic: (d) => unread.push(d) });
  unread.forEach(report);
  if (!parsed) return 0;
  const options = parsed.options;
  for (const name of ["declaration", "declarationMap", "emitDeclarationOnly", "outDir", "outFile", "sourceMap", "inlineSources", "inlineSourceMap", "declarationDir"]) {
    if (options.composite && name === "declaration") continue; // its own rules hold
    delete options[name];
  }
  const host = known ? ts.createIncrementalCompilerHost(options) : ts.createCompilerHost(options);
  host.useSourceOfProjectReferenceRedirect = () => true;
  const given = { rootNames: parsed.fileNames, options, projectReferences: parsed.projectReferences, configFileParsingDiagnostics: parsed.errors, host };
  const builder = known ? ts.createIncrementalProgram(given) : null;
  const program = builder ? builder.getProgram() : ts.createProgram(given);
  const foreign = (f) => program.isSourceOfProjectReferenceRedirect && program.isSourceOfProjectReferenceRedirect(f.fileName);
  const all = [...program.getConfigFileParsingDiagnostics(), ...program.getOptionsDiagnostics(), ...program.getSyntacticDiagnostics(), ...program.getGlobalDiagnostics()];
  const own = (f) => !program.isSourceFileFromExternalLibrary(f) && !program.isSourceFileDefaultLibrary(f) && !foreign(f);
  const n = program.getSourceFiles().filter(own).length;
  // Asked for all files at once, or the next run would check them all again.
  all.push(...(builder || program).getSemanticDiagnostics().filter((d) => !d.file || !foreign(d.file)));
  if (builder) builder.emit();
  ts.sortAndDeduplicateDiagnostics(all).forEach(report);
  return n;
}

function syntax(files) {
  const options = { noEmit: true, noResolve: true, noLib: true, allowJs: true, jsx: ts.JsxEmit.Preserve, types: [], target: ts.ScriptTarget.ESNext };
  const program = ts.createProgram(files, options);
  for (const file of files) {
    const f = program.getSourceFile(file);
    if (f) program.getSyntacticDiagnostics(f).forEach(report);
  }
  return files.length;
}

let checked = 0;
if (cache) fs.mkdirSync(cache, { recursive: true });
for (const c of configs) checked += check(c);
if (loose.length) checked += syntax(loose);
print({ checked, version: ts.version });
fs.writeSync(1, lines.join("\n") + "\n");
process.exitCode = failed ? 2 : 0;
