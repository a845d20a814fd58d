// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { documentDiagrams } from "./support/diagrams.ts";

const diagrams = documentDiagrams();

/** What has to be shown, and below which heading a reader finds it. */
const promised: readonly (readonly [subject: string, page: string, heading: string])[] = [
  ["layers", "docs/system.md", "Layers"],
  ["creation sequence", "docs/system.md", "How a cluster is created"],
  ["module map", "docs/system.md", "Module map"],
  ["modes", "docs/system.md", "Modes of a machine"],
  ["reconcile loop", "docs/system.md", "The reconcile loop"],
  ["backup", "docs/system.md", "A backup"],
  ["add-on", "docs/system.md", "An add-on"],
  ["dependencies", "docs/system.md", "Dependencies of what a stack makes"],
  ["deploy flow", "docs/system.md", "The flow of a deploy"],
  ["AWS network", "docs/aws.md", "The network"],
  ["environments from one base", "docs/aws.md", "A cluster on AWS, for a team"],
  ["Talos services", "docs/how-talos-works.md", "Services"],
  ["boot", "docs/how-talos-works.md", "From power-on to a node: six steps"],
  ["libvirt overview", "docs/libvirt.md", "A cluster at home, on libvirt"],
  ["libvirt default topology", "docs/libvirt.md", "The default: one control plane, two workers"],
  ["libvirt HA topology", "docs/libvirt.md", "High availability: three control planes and a shared address"],
  ["four deploy phases", "docs/libvirt.md", "What a deploy does, in four phases"],
  ["component stack", "docs/libvirt.md", "What is on top of what"],
  ["address assignment", "docs/libvirt.md", "How addresses are assigned"],
  ["Kubernetes upgrade", "docs/kubernetes-upgrade.md", "A Kubernetes upgrade, step by step"],
];

describe("diagrams", () => {
  test.each(promised)("%s is in %s below %j", (_, page, heading) => {
    expect(diagrams.filter((diagram) => diagram.page === page && diagram.heading === heading)).not.toEqual([]);
  });

  test.each(diagrams.map((diagram) => [diagram.name, diagram.source] as const))(
    "%s is closed as it was opened",
    (_, source) => {
      expect(source).toMatch(/^(flowchart (LR|TB)|sequenceDiagram|stateDiagram-v2)\n/);
      // It ends a statement there, in the middle of a sentence.
      if (source.startsWith("sequenceDiagram")) expect(source).not.toContain(";");
      const lines = source.split("\n").map((line) => line.trim());
      expect(lines.filter((line) => line === "end").length).toBe(
        lines.filter((line) => line.startsWith("subgraph ")).length,
      );
    },
  );
});
