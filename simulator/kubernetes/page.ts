// SPDX-License-Identifier: Apache-2.0
import { Buffer } from "node:buffer";
import * as z from "zod";
import type { KubernetesObject } from "../machine/world.ts";
import { ApiError } from "./status.ts";

/** One page of a list, and where the next one begins. */
export interface Page {
  readonly items: readonly KubernetesObject[];
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

const tokenSchema = z.object({ v: z.literal("meta.k8s.io/v1"), rv: z.number(), start: z.string() });

const keyOf = ({ metadata: { namespace = "", name } }: KubernetesObject) => `${namespace}/${name}`;

/** The part of a list that `limit` and `continue` ask for, by the keys of its objects. */
export function pageOf(all: readonly KubernetesObject[], query: URLSearchParams, revision: number): Page {
  requireRevision(query, revision);
  const start = startOf(query.get("continue"));
  const sorted = start === undefined ? all : all.filter((object) => keyOf(object) >= start);
  const limit = limitOf(query.get("limit"));
  const next = limit === 0 ? undefined : sorted[limit];
  if (next === undefined) return { items: sorted };
  const token = JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start: keyOf(next) });
  const selected = query.has("labelSelector") || query.has("fieldSelector");
  return {
    items: sorted.slice(0, limit),
    continue: Buffer.from(token).toString("base64url"),
    ...(selected ? {} : { remainingItemCount: sorted.length - limit }),
  };
}

/** A list may be asked for as of a revision, which has to be one, and not one to come. */
function requireRevision(query: URLSearchParams, now: number): void {
  const asked = query.get("resourceVersion") ?? "";
  if (!/^\d*$/.test(asked)) {
    const parsing = `strconv.ParseUint: parsing ${JSON.stringify(asked)}: invalid syntax`;
    const message = `resourceVersion: Invalid value: ${JSON.stringify(asked)}: ${parsing}`;
    throw new ApiError("BadRequest", `invalid resource version: ${message}`);
  }
  if (Number(asked) > now)
    throw new ApiError("Timeout", `Timeout: Too large resource version: ${asked}, current: ${now}`, {});
}

function limitOf(text: string | null): number {
  if (text === null || text === "") return 0;
  if (/^[+-]?\d+$/.test(text)) return Math.max(0, Number(text));
  throw new ApiError("BadRequest", `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
}

function startOf(text: string | null): string | undefined {
  if (text === null || text === "") return undefined;
  try {
    return tokenSchema.parse(JSON.parse(Buffer.from(text, "base64url").toString())).start;
  } catch {
    throw new ApiError("BadRequest", "continue key is not valid");
  }
}
