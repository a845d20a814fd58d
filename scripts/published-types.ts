// SPDX-License-Identifier: Apache-2.0
// The declarations that the package carries. As tsc writes them they import through the index of each folder, and so reach
// files that name Node and packages that nobody installs. Here each import leads to the file that declares what it names,
// and what no entry point reaches is left out.
import { dirname, posix } from "node:path";

/** `import { A, type B as C } from "./x.js";`, and the same with `export`. */
const statements = /^(import|export)( type)? \{([^}]*)\} from "(\.[^"]+)\.js";$/gm;
const inlineImports = /import\("(\.[^"]+)\.js"\)\.(\w+)/g;
const anyImport = /(?:from |import |import\()"(\.[^"]+)\.js"/g;

/** Declarations by their path, with `.d.ts`. */
type Declarations = ReadonlyMap<string, string>;

const fileOf = (importer: string, specifier: string) => posix.join(dirname(importer), `${specifier}.d.ts`);

/** The declarations that the entry points need, each import leading to the file that declares what it names. */
export function publishedTypes(written: Declarations, entries: readonly string[]): Declarations {
  const direct = new Map<string, string>();
  const add = (file: string): void => {
    const text = written.get(file);
    if (text === undefined || direct.has(file)) return;
    const rewritten = withDirectImports(file, text, written);
    direct.set(file, rewritten);
    for (const [, specifier = ""] of rewritten.matchAll(anyImport)) add(fileOf(file, specifier));
  };
  for (const entry of entries) add(entry);
  return direct;
}

function withDirectImports(file: string, text: string, written: Declarations): string {
  const specifierOf = (target: string) => {
    const path = posix.relative(dirname(file), target.replace(/\.d\.ts$/, ".js"));
    return path.startsWith(".") ? path : `./${path}`;
  };
  const split = (_: string, verb: string, type = "", names = "", specifier = "") =>
    namesIn(names)
      .map(({ modifier, name, local }) => {
        const found = declarationOf(written, fileOf(file, specifier), name);
        const renamed = found.name === local ? local : `${found.name} as ${local}`;
        return `${verb}${type} { ${modifier}${renamed} } from "${specifierOf(found.file)}";`;
      })
      .join("\n");
  const inline = (_: string, specifier: string, name: string) => {
    const found = declarationOf(written, fileOf(file, specifier), name);
    return `import("${specifierOf(found.file)}").${found.name}`;
  };
  return text.replaceAll(statements, split).replaceAll(inlineImports, inline);
}

/** Where a name that a file exports is declared, and as what. */
function declarationOf(
  written: Declarations,
  file: string,
  name: string,
): { readonly file: string; readonly name: string } {
  for (const [, verb, , names = "", specifier = ""] of (written.get(file) ?? "").matchAll(statements)) {
    const passed = verb === "export" ? namesIn(names).find(({ local }) => local === name) : undefined;
    if (passed !== undefined) return declarationOf(written, fileOf(file, specifier), passed.name);
  }
  return { file, name };
}

function namesIn(list: string) {
  return list
    .split(",")
    .map((each) => /^\s*(type )?(\w+)(?: as (\w+))?\s*$/.exec(each))
    .filter((match) => match !== null)
    .map(([, modifier = "", name = "", local = name]) => ({ modifier, name, local }));
}
