// SPDX-License-Identifier: Apache-2.0
import type { KubernetesObject } from "../machine/world.ts";

type Test = (object: KubernetesObject) => boolean;

/** `a=b,c!=d,e in (f,g),!h`: what kubectl -l takes. */
export function labelSelector(text: string | null): Test {
  const tests = splitTerms(text ?? "").map(labelTerm);
  return (object) => tests.every((test) => test(object.metadata.labels ?? {}));
}

function splitTerms(text: string): string[] {
  return text.split(/,(?![^(]*\))/).filter((term) => term.trim() !== "");
}

function labelTerm(term: string): (labels: Readonly<Record<string, string>>) => boolean {
  const set = /^\s*(\S+)\s+(in|notin)\s+\(([^)]*)\)\s*$/.exec(term);
  if (set !== null) {
    const [, key = "", operator, list = ""] = set;
    const values = list.split(",").map((value) => value.trim());
    return (labels) => {
      const held = labels[key];
      return operator === "in"
        ? held !== undefined && values.includes(held)
        : held === undefined || !values.includes(held);
    };
  }
  const [, key = "", operator, value = ""] = /^\s*([^=!]+?)\s*(==|=|!=)\s*(.*?)\s*$/.exec(term) ?? [];
  if (operator === "!=") return (labels) => labels[key] !== value;
  if (operator !== undefined) return (labels) => labels[key] === value;
  const name = term.trim();
  return name.startsWith("!")
    ? (labels) => labels[name.slice(1)] === undefined
    : (labels) => labels[name] !== undefined;
}

/** `metadata.name=x,spec.nodeName=y`: paths into the object. */
export function fieldSelector(text: string | null): Test {
  const tests = splitTerms(text ?? "").map((term) => {
    const [, path = "", operator = "=", value = ""] = /^([^=!]+)(==|=|!=)(.*)$/.exec(term) ?? [];
    return (object: KubernetesObject): boolean => {
      const held = path
        .split(".")
        .reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], object);
      const same = String(held ?? "") === value;
      return operator === "!=" ? !same : same;
    };
  });
  return (object) => tests.every((test) => test(object));
}
