// SPDX-License-Identifier: Apache-2.0
import { type Der, objectIdentifier, sequence, set, text } from "./der.ts";

export interface Subject {
  readonly commonName?: string;
  readonly organizations?: readonly string[];
}

const identifier = { commonName: "2.5.4.3", organization: "2.5.4.10" } as const;

/** The distinguished name: all organizations in one multi-valued part, then the common name, as Go writes it. */
export function distinguishedName(subject: Subject): Der {
  const parts: Der[] = [];
  if (subject.organizations !== undefined && subject.organizations.length > 0) {
    parts.push(set(...subject.organizations.map((name) => attribute(identifier.organization, name))));
  }
  if (subject.commonName !== undefined) parts.push(set(attribute(identifier.commonName, subject.commonName)));
  return sequence(...parts);
}

function attribute(type: string, value: string): Der {
  return sequence(objectIdentifier(type), text(value));
}
