// SPDX-License-Identifier: Apache-2.0
// The public API of the package, read from the sources of its two entry points: what is exported, its members and
// comments, and the types that stand in its signatures. docs/api.md is made from it; test/public-api.test.ts checks it.
import { join, relative } from "node:path";
import type { Node } from "typescript/unstable/ast";
import {
  isBlock,
  isClassDeclaration,
  isConstructorDeclaration,
  isExpressionWithTypeArguments,
  isFunctionDeclaration,
  isGetAccessorDeclaration,
  isInterfaceDeclaration,
  isMethodDeclaration,
  isMethodSignatureDeclaration,
  isParameterDeclaration,
  isPropertyDeclaration,
  isPropertySignatureDeclaration,
  isTypeAliasDeclaration,
  isTypeLiteralNode,
  isTypeQueryNode,
  isTypeReferenceNode,
} from "typescript/unstable/ast/is";
import { API, type Project, SymbolFlags, type Symbol as TypeScriptSymbol } from "typescript/unstable/sync";

const root = join(import.meta.dirname, "..");

/** What a project imports, and the source that has it. */
export const entryPoints = {
  talosmith: "workspace/synthesize/public.ts",
  "talosmith/constructs": "constructs/public.ts",
} as const;

export interface Comment {
  /** Without its tags. Empty where there is none. */
  readonly text: string;
  /** What `@default` says. */
  readonly default?: string | undefined;
}

export interface PublicMember extends Comment {
  /** Members of an object type that has no name follow their parent: `vpc.cidr`. */
  readonly name: string;
  readonly kind: "constructor" | "method" | "property";
  readonly signature: string;
  readonly optional: boolean;
}

export interface PublicName extends Comment {
  readonly name: string;
  readonly module: keyof typeof entryPoints;
  readonly kind: "class" | "interface" | "type" | "function" | "other";
  /** Path of its source from the project's root. */
  readonly file: string;
  /** Without members and bodies. */
  readonly signature: string;
  readonly members: readonly PublicMember[];
  /** Types of this project that the signature and those of the members mention. */
  readonly mentions: readonly string[];
}

/** Everything that the two entry points export, in alphabetical order. */
export function readPublicApi(): readonly PublicName[] {
  return withProject((project) => {
    const modules = Object.entries(entryPoints) as [PublicName["module"], string][];
    const names = modules.flatMap(([module, file]) =>
      exportsOf(project, join(root, file)).map((each) => describe(project, module, each)),
    );
    return names
      .map((each) => withInheritedComments(each, names))
      .sort((left, right) => (left.name < right.name ? -1 : 1));
  });
}

/** Why `npm run build` could not write declarations; the usual type check does not look. */
export function declarationErrors(): readonly string[] {
  return withProject(({ program }) => [
    ...new Set(
      program
        .getDeclarationDiagnostics()
        .map(({ fileName, text }) => `${relative(root, fileName ?? "")}: ${text.replaceAll(`${root}/`, "")}`),
    ),
  ]);
}

function withProject<Result>(read: (project: Project) => Result): Result {
  const api = new API({ cwd: root });
  try {
    const config = join(root, "tsconfig.types.json");
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (project === undefined) throw new Error(`${config} was not loaded`);
    return read(project);
  } finally {
    api.close();
  }
}

function exportsOf({ program, checker }: Project, file: string): readonly TypeScriptSymbol[] {
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} is not a module`);
  return checker.getExportsOfModule(module);
}

function describe(project: Project, module: PublicName["module"], exported: TypeScriptSymbol): PublicName {
  const symbol = resolved(project, exported);
  const node = symbol.declarations[0]?.resolve();
  if (node === undefined) throw new Error(`${exported.name} has no declaration`);
  const mentions = new Set<string>();
  const members: PublicMember[] = [];
  const visit = (each: Node, parent: string): void => {
    if (isHidden(each)) return;
    const member = each === node ? undefined : memberOf(each, parent);
    if (member !== undefined) members.push(member);
    const mentioned = mentionOf(project, each);
    if (mentioned !== undefined && mentioned !== exported.name) mentions.add(mentioned);
    const inside = member?.kind === "property" || member?.kind === "method" ? `${member.name}.` : parent;
    each.forEachChild((child) => {
      if (!isImplementation(each, child)) visit(child, inside);
    });
  };
  visit(node, "");
  return {
    name: exported.name,
    module,
    kind: kindOf(node),
    file: relative(root, node.getSourceFile().fileName),
    signature: headOf(node),
    members,
    mentions: [...mentions].sort(),
    ...commentOf(node),
  };
}

/** A member that its class takes over from a base or an interface has the comment that it has there. */
function withInheritedComments(name: PublicName, all: readonly PublicName[]): PublicName {
  const bases = all.filter((each) => name.mentions.includes(each.name) && name.signature.includes(each.name));
  const inherited = (member: string): Comment | undefined =>
    bases
      .flatMap((base) => withInheritedComments(base, all).members)
      .find((each) => each.name === member && each.text !== "");
  return {
    ...name,
    members: name.members.map((each) => (each.text === "" ? { ...each, ...textOf(inherited(each.name)) } : each)),
  };
}

function textOf(comment: Comment | undefined): { readonly text: string } {
  return { text: comment?.text ?? "" };
}

function resolved({ checker }: Project, symbol: TypeScriptSymbol): TypeScriptSymbol {
  return symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** Members that the declarations of the package do not have either. */
function isHidden(node: Node): boolean {
  const start = node.getText().slice(0, 80);
  return (
    /@internal\b/.test(rawComment(node)) ||
    /^(?:(?:static|readonly|override|get|async) )*#|^(?:private|protected) /.test(start)
  );
}

/** Bodies and initial values: what no declaration shows. */
function isImplementation(parent: Node, child: Node): boolean {
  if (isBlock(child)) return true;
  return (isPropertyDeclaration(parent) || isParameterDeclaration(parent)) && parent.initializer === child;
}

/** The type of this project that a node names. Type parameters and types of packages are none. */
function mentionOf(project: Project, node: Node): string | undefined {
  const name = isTypeReferenceNode(node)
    ? node.typeName
    : isExpressionWithTypeArguments(node)
      ? node.expression
      : isTypeQueryNode(node)
        ? node.exprName
        : undefined;
  const found = name && project.checker.getSymbolAtLocation(name);
  if (found === undefined) return undefined;
  const symbol = resolved(project, found);
  if (symbol.flags & SymbolFlags.TypeParameter) return undefined;
  const file = symbol.declarations[0]?.resolve()?.getSourceFile().fileName ?? "";
  return file === "" || /\/node_modules\//.test(file) || !file.startsWith(root) ? undefined : symbol.name;
}

function kindOf(node: Node): PublicName["kind"] {
  if (isClassDeclaration(node)) return "class";
  if (isInterfaceDeclaration(node)) return "interface";
  if (isTypeAliasDeclaration(node)) return "type";
  return isFunctionDeclaration(node) ? "function" : "other";
}

function memberOf(node: Node, parent: string): PublicMember | undefined {
  if (isConstructorDeclaration(node))
    return { name: "constructor", kind: "constructor", signature: headOf(node), optional: false, ...commentOf(node) };
  // An unnamed object with one member is described by what holds it.
  if (isTypeLiteralNode(node.parent) && node.parent.members.length === 1) return undefined;
  const isProperty =
    isPropertyDeclaration(node) || isPropertySignatureDeclaration(node) || isGetAccessorDeclaration(node);
  if (!isProperty && !isMethodDeclaration(node) && !isMethodSignatureDeclaration(node)) return undefined;
  const name = node.name.getText();
  // A member may be called as a part of a word that stands before it, such as "on" in "readonly".
  const head = headOf(node).replace(/^readonly /, "");
  return {
    name: `${parent}${name}`,
    kind: isProperty ? "property" : "method",
    signature: head,
    optional: new RegExp(`${name.replaceAll(/\W/g, "\\$&")}\\?`).test(
      head.slice(0, head.indexOf(name) + name.length + 1),
    ),
    ...commentOf(node),
  };
}

/** A declaration without its comments, body and initial value, on one line. */
function headOf(node: Node): string {
  const text = node.getText();
  const start = node.getStart();
  let end = text.length;
  if (isClassDeclaration(node) || isInterfaceDeclaration(node)) end = text.indexOf(" {\n");
  else
    node.forEachChild((child) => {
      if (isBlock(child) || (isPropertyDeclaration(node) && child === node.initializer && node.type !== undefined))
        end = Math.min(end, child.getStart() - start);
    });
  return text
    .slice(0, end === -1 ? text.length : end)
    .replaceAll(/\/\*\*[\s\S]*?\*\//g, "")
    .replaceAll(/\s+/g, " ")
    .replace(/^export (default )?/, "")
    .replace(/\boverride /, "")
    .replace(/ = (("[^"]*"|true|false|undefined|\d+);?)$/, ": $1")
    .replace(/[\s;={]+$/, "");
}

function rawComment(node: Node): string {
  const leading = node.getFullText().slice(0, node.getStart() - node.getFullStart());
  return [...leading.matchAll(/\/\*\*([\s\S]*?)\*\//g)].at(-1)?.[1] ?? "";
}

function commentOf(node: Node): Comment {
  const words = rawComment(node)
    .replaceAll(/^\s*\* ?/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  const [text = "", ...tags] = words.split(/(?:^| )@(?=[a-z]+\b)/);
  return { text: text.trim(), default: tags.find((tag) => tag.startsWith("default "))?.slice("default ".length) };
}
