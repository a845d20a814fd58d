// SPDX-License-Identifier: Apache-2.0
import { type Environment, parseEnvironment } from "../model/index.ts";

type ParseOptions = Parameters<typeof parseEnvironment>[2];
type ReadFile = (file: string) => string | undefined;

interface Known {
  /** Every file that was asked for, with what it held. */
  readonly files: ReadonlyMap<string, string | undefined>;
  readonly outcome: { readonly environment: Environment } | { readonly error: unknown };
}

/** Loads environments again only when a file that they are made of has changed; whoever asks every few seconds may. */
export function environmentCache(read: ReadFile, options?: ParseOptions): (name: string) => Environment {
  const cache = new Map<string, Known>();
  return (name) => {
    let known = cache.get(name);
    if (known === undefined || [...known.files].some(([file, text]) => read(file) !== text)) {
      known = load(name, read, options);
      cache.set(name, known);
    }
    if ("error" in known.outcome) throw known.outcome.error;
    return known.outcome.environment;
  };
}

function load(name: string, read: ReadFile, options: ParseOptions): Known {
  const files = new Map<string, string | undefined>();
  const noting: ReadFile = (file) => {
    const text = read(file);
    files.set(file, text);
    return text;
  };
  try {
    return { files, outcome: { environment: parseEnvironment(name, noting, options) } };
  } catch (error) {
    return { files, outcome: { error } };
  }
}
