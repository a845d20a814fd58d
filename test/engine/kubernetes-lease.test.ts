// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { kubernetesServer } from "./kubernetes-server.ts";

const api = kubernetesServer();

describe("the lease", () => {
  const us = { place: "here/boot/0", run: "1" };
  const lease = (holderIdentity: string, renewTime: Date) => ({
    metadata: { resourceVersion: "7" },
    spec: { holderIdentity, renewTime: renewTime.toISOString() },
  });

  test("is made when there is none", async () => {
    api.answer = ({ method }) => (method === "POST" ? [201, {}] : [404, {}]);
    expect(await api.kubernetes.takeLease(us)).toBeUndefined();
    expect(api.calls.at(-1)).toMatchObject({
      method: "POST",
      body: { metadata: { name: "talosmith", namespace: "kube-system" }, spec: { holderIdentity: "here/boot/0/1" } },
    });
  });

  test.each([
    ["ours", "here/boot/0/1", 0, undefined],
    ["one of a run that died here", "here/boot/0/0", 0, undefined],
    ["another's that nobody renews any more", "there/boot/0/9", 61_000, undefined],
    ["another's that died with its clock ahead", "there/boot/0/9", -3_600_000, undefined],
    ["another's", "there/boot/0/9", 1000, "there/boot/0/9"],
    ["another's whose clock is a little ahead", "there/boot/0/9", -5000, "there/boot/0/9"],
  ])("that is %s is told apart", async (_name, holder, age, expected) => {
    api.answer = ({ method }) =>
      method === "GET" ? [200, lease(holder, new Date(api.timing.now() - age))] : [200, {}];
    expect(await api.kubernetes.takeLease(us)).toBe(expected);
    const put = api.calls.find(({ method }) => method === "PUT");
    expect(put === undefined).toBe(expected !== undefined);
    if (put !== undefined) expect(put.body).toMatchObject({ metadata: { resourceVersion: "7" } });
  });

  test("that seems to have run out is watched aloud, so that nobody wonders what is waited for", async () => {
    api.answer = ({ method }) =>
      method === "GET" ? [200, lease("there/boot/0/9", new Date(api.timing.now() - 180_000))] : [200, {}];
    const told: string[] = [];
    expect(await api.kubernetes.takeLease(us, undefined, (message) => told.push(message))).toBeUndefined();
    expect(told[0]).toBe(
      "another run, there/boot/0/9, has not said for 3 min that it works on this cluster: it is watched for 45 s more before this run goes on",
    );
    expect(told.at(-1)).toContain("for 5 s more");
    expect(told).toHaveLength(9);
  });

  test.each([3_600_000, -3_600_000])("of a run that lives is not taken when clocks differ by %i ms", async (skew) => {
    let renewed = 0;
    let looks = 0;
    api.answer = ({ method }) => {
      if (method !== "GET") return [200, {}];
      // Whoever has it renews it every twenty seconds, by a clock of its own.
      renewed = 1 + Math.floor((looks++ * 5000) / 20_000);
      const { metadata, ...found } = lease("there/boot/0/9", new Date(api.timing.now() - skew));
      return [200, { ...found, metadata: { ...metadata, resourceVersion: String(renewed) } }];
    };
    expect(await api.kubernetes.takeLease(us)).toBe("there/boot/0/9");
    expect(api.calls.some(({ method }) => method === "PUT")).toBe(false);
  });

  test("goes to whoever is faster", async () => {
    api.answer = ({ method }) =>
      method === "GET" ? [200, lease("", new Date())] : [409, { message: "the object has been modified" }];
    expect(await api.kubernetes.takeLease(us)).toBe("runs that were faster three times");
  });

  test("is given back only when it is still ours", async () => {
    api.answer = () => [200, lease("there/boot/0/9", new Date())];
    await api.kubernetes.releaseLease(us);
    expect(api.calls.some(({ method }) => method === "DELETE")).toBe(false);
    api.answer = () => [200, lease("here/boot/0/1", new Date())];
    await api.kubernetes.releaseLease(us);
    expect(api.calls.at(-1)?.method).toBe("DELETE");
  });
});
