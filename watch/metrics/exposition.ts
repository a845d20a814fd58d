// SPDX-License-Identifier: Apache-2.0
import type { Definition } from "./definitions.ts";

export interface Sample {
  readonly metric: string;
  /** What is added to the metric's name: histograms have several. */
  readonly suffix?: "_bucket" | "_sum" | "_count";
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export const contentType = "text/plain; version=0.0.4; charset=utf-8";

/** Prometheus' text format, version 0.0.4. Metrics without a sample are left out. */
export function expose(definitions: readonly Definition[], samples: readonly Sample[]): string {
  return definitions
    .flatMap(({ name, type, help }) => {
      const own = samples.filter(({ metric }) => metric === name);
      if (own.length === 0) return [];
      return [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`, ...own.map(lineOf)];
    })
    .map((line) => `${line}\n`)
    .join("");
}

function lineOf({ metric, suffix, labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text).replaceAll('"', '\\"')}"`);
  return `${metric}${suffix ?? ""}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}`;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}
