// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { renderMeta } from "../../cloud-init/index.ts";

const machine = { hostname: "rack1-a", address: "10.0.0.11", role: "worker", cluster: "rack" };

describe("META of a machine", () => {
  it("fills templates with whole YAML values, by key in decimal", () => {
    expect(renderMeta(machine, { "0x0c": "host: {{hostname}}\n", "13": "{{address}}" })).toEqual({
      "12": 'host: "rack1-a"\n',
      "13": '"10.0.0.11"',
    });
  });

  it("lets a machine's own template win, also over the same key written in hex", () => {
    expect(renderMeta(machine, { "12": "all" }, { "0x0c": "own" })).toEqual({ "12": "own" });
  });

  it("takes no newline in a value for a new key", () => {
    const rendered = renderMeta({ ...machine, hostname: "a\nevil: true" }, { "12": "host: {{hostname}}\n" });
    expect(rendered["12"]).toBe('host: "a\\nevil: true"\n');
  });

  it("refuses what the machine does not have, and names what there is", () => {
    expect(() => renderMeta(machine, { "10": "gateway: {{gateway}}" })).toThrow(/META key 10 of rack1-a.*gateway/s);
  });

  it("refuses network settings that are no mapping, and lets an empty text be", () => {
    expect(() => renderMeta(machine, { "10": "- {{address}}" })).toThrow(/found no mapping/);
    expect(renderMeta(machine, { "10": "" })).toEqual({ "10": "" });
  });

  it.each(["256", "net", "-1"])("refuses the key %s", (key) => {
    expect(() => renderMeta(machine, { [key]: "x" })).toThrow(/no key of META/);
  });
});
