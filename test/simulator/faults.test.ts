// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { type Fault, type FaultKind, parseFault } from "../../simulator/control/index.ts";

/** What `talosmith sim fault <machine> …` takes, kind by kind; the type makes sure that none is forgotten. */
const written: Readonly<Record<FaultKind, string>> = {
  refuse: "refuse",
  reset: "reset",
  "half-open": "half-open",
  delay: '{"kind":"delay","milliseconds":500,"times":3}',
  trickle: '{"kind":"trickle","milliseconds":20}',
  "wrong-certificate": "wrong-certificate",
  "expired-certificate": "expired-certificate",
  "clock-skew": '{"kind":"clock-skew","milliseconds":-3600000}',
  "reject-config": '{"kind":"reject-config","message":"no such disk"}',
  fail: '{"kind":"fail","method":"Version","code":"ResourceExhausted","message":"slow down"}',
  crash: '{"kind":"crash","method":"Bootstrap","when":"after"}',
  "disk-full": "disk-full",
  "never-back": "never-back",
  "bad-boot": "bad-boot",
  "component-not-ready": '{"kind":"component-not-ready","component":"kube-scheduler","version":"1.36.5"}',
  "slow-static-pods": '{"kind":"slow-static-pods","milliseconds":30000}',
  "service-fails": '{"kind":"service-fails","service":"etcd","message":"Failed to run pre stage: not found"}',
  "volume-fails": '{"kind":"volume-fails","volume":"EPHEMERAL","message":"no disk matches"}',
};

describe("a fault as a person writes it", () => {
  it.each(Object.entries(written))("%s", (kind, text) => {
    const expected: unknown = text.startsWith("{") ? JSON.parse(text) : { kind };
    expect(parseFault(text)).toEqual(expected as Fault);
  });

  it.each([
    ["that nobody knows", "sneeze"],
    ["without what it needs", "delay"],
    ["with more than it has", '{"kind":"refuse","milliseconds":1}'],
    ["that is no JSON", '{"kind":'],
  ])("%s is refused, with the kinds that there are", (_, text) => {
    expect(() => parseFault(text)).toThrow(expect.objectContaining({ hint: expect.stringContaining("never-back") }));
  });
});
