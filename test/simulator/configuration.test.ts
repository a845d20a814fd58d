// SPDX-License-Identifier: Apache-2.0
import { beforeEach, describe, expect, it } from "vitest";
import type { Machine } from "../../simulator/index.ts";
import { ApplyConfigurationRequest_Mode as Mode } from "../../talos/api/gen/machine/machine.ts";
import { configFor } from "./laboratory.ts";
import { VirtualLaboratory } from "./virtual-laboratory.ts";

const hot = "machine: {sysctls: {net.core.somaxconn: '65535'}}";
const cold = "machine: {env: {GRPC_GO_LOG_VERBOSITY_LEVEL: '99'}}";

let lab: VirtualLaboratory;
let machine: Machine;
const config = (...patches: string[]): string => configFor("controlplane", machine.address, "cp-1", patches);

beforeEach(async () => {
  lab = new VirtualLaboratory();
  [machine] = (await lab.cluster(1)) as [Machine];
});

async function apply(text: string, mode: keyof typeof Mode, extra: { dryRun?: boolean; seconds?: bigint } = {}) {
  const reply = await lab.apply(machine, text, {
    mode: Mode[mode],
    dryRun: extra.dryRun ?? false,
    tryModeTimeout: { seconds: extra.seconds ?? 60n, nanos: 0 },
  });
  const [message] = reply.messages;
  return { mode: Object.keys(Mode)[message?.mode ?? 0], details: message?.modeDetails ?? "" };
}

describe("a config on a running machine", () => {
  it("takes effect at once when only hot fields change", async () => {
    expect(await apply(config(hot), "AUTO")).toEqual({
      mode: "NO_REBOOT",
      details: "Applied configuration without a reboot",
    });
    expect(lab.now(machine.id)).toMatchObject({
      activeConfig: config(hot),
      disk: { config: config(hot) },
      life: { stage: "running" },
    });
  });

  it("reboots the machine when a cold field changes, and says which", async () => {
    const { mode, details } = await apply(config(cold), "AUTO");
    expect(mode).toBe("REBOOT");
    expect(details).toContain("this config change can't be applied in immediate mode\ndiff: @@");
    expect(details).toContain("+        GRPC_GO_LOG_VERBOSITY_LEVEL");
    await expect(apply(config(), "AUTO")).rejects.toMatchObject({ status: "FailedPrecondition" });
    await lab.clock.advance(10_000);
    const after = lab.now(machine.id);
    expect(after).toMatchObject({ activeConfig: config(cold), life: { stage: "running" } });
    expect(after.bootId).not.toBe(machine.bootId);
  });

  it("is refused without a reboot when a cold field changes", async () => {
    await expect(apply(config(cold), "NO_REBOOT")).rejects.toMatchObject({ status: "InvalidArgument" });
    await expect(apply(config(cold), "TRY")).rejects.toMatchObject({ status: "InvalidArgument" });
    expect(lab.now(machine.id).activeConfig).toBe(config());
  });

  it.each(["AUTO", "NO_REBOOT"] as const)("takes effect at once on 1.14, whatever changes: %s", async (mode) => {
    lab.simulation.update((world) => {
      const modern = { ...lab.now(machine.id), talosVersion: "v1.14.0-rc.1" };
      return { ...world, machines: { ...world.machines, [machine.id]: modern } };
    });
    expect(await apply(config(cold), mode)).toEqual({
      mode: "NO_REBOOT",
      details: "Applied configuration without a reboot",
    });
    expect(lab.now(machine.id)).toMatchObject({ activeConfig: config(cold), life: { stage: "running" } });
  });

  it("waits for the next boot when it is staged", async () => {
    expect((await apply(config(cold), "STAGED")).details).toBe(
      "Staged configuration to be applied after the next reboot",
    );
    expect(lab.now(machine.id)).toMatchObject({ activeConfig: config(), disk: { config: config(cold) } });
    lab.simulator.setPower(machine.id, false);
    lab.simulator.setPower(machine.id, true);
    await lab.clock.advance(10_000);
    expect(lab.now(machine.id).activeConfig).toBe(config(cold));
  });

  it("is taken back after its time in try mode, and stays when it is applied within it", async () => {
    expect((await apply(config(hot), "TRY", { seconds: 90n })).details).toContain("reverted back in 1m30s");
    expect(lab.now(machine.id).activeConfig).toBe(config(hot));
    await lab.clock.advance(91_000);
    expect(lab.now(machine.id).activeConfig).toBe(config());
    await apply(config(hot), "TRY");
    await apply(config(hot), "NO_REBOOT");
    await lab.clock.advance(91_000);
    expect(lab.now(machine.id).activeConfig).toBe(config(hot));
  });

  it("changes nothing in a dry run but tells the difference", async () => {
    const same = await apply(config(), "AUTO", { dryRun: true });
    expect(same.details).toBe(
      "Dry run summary:\nApplied configuration without a reboot (skipped in dry-run).\nConfig diff:\n\nNo changes.",
    );
    const other = await apply(config(hot), "AUTO", { dryRun: true });
    expect(other.details).toMatch(/Config diff:\n\n@@ .* @@\n(.*\n)*\+ +sysctls:/);
    expect(lab.now(machine.id).activeConfig).toBe(config());
  });

  it("is refused when it is damaged or only a part", async () => {
    await expect(apply("machine: [", "AUTO")).rejects.toMatchObject({ status: "InvalidArgument" });
    await expect(apply("apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: x\n", "AUTO")).rejects.toMatchObject({
      status: "InvalidArgument",
    });
  });

  it("is refused as a fault says, as often as it says", async () => {
    lab.simulator.setFaults(machine.id, [
      { kind: "reject-config", message: "no such disk", until: lab.clock.now() + 1_000 },
    ]);
    await expect(apply(config(hot), "AUTO")).rejects.toMatchObject({
      status: "InvalidArgument",
      message: "no such disk",
    });
    await lab.clock.advance(1_001);
    await apply(config(hot), "AUTO");
    lab.simulator.setFaults(machine.id, [{ kind: "disk-full" }]);
    await expect(apply(config(), "AUTO")).rejects.toThrow(/no space left on device/);
  });
});

describe("a config that no longer asks for a network plugin", () => {
  it("leaves the one that is there at work", async () => {
    const own = new VirtualLaboratory();
    const [controlPlane] = (await own.cluster(1, 1)) as [Machine, Machine];
    await own.apply(
      controlPlane,
      configFor("controlplane", controlPlane.address, "cp-1", ["cluster: {network: {cni: {name: none}}}"]),
    );
    await own.clock.advance(60_000);
    expect(own.ready().sort()).toEqual(["cp-1", "w-1"]);
    const objects = Object.keys(Object.values(own.simulation.world.clusters)[0]?.objects ?? {});
    expect(objects).toContain("daemonsets.apps/kube-system/kube-flannel");
  });
});

describe("documents without the main one", () => {
  const documents = "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: early\n";

  it("are taken in maintenance mode, and the machine goes on waiting with what they say", async () => {
    const [waiting] = (await lab.machines(["waiting"])) as [Machine];
    const { messages } = await lab.apply(waiting, documents);
    expect(messages[0]?.modeDetails).toBe("Applied configuration without a reboot");
    await lab.clock.advance(5_000);
    expect(lab.now(waiting.id).life.stage).toBe("maintenance");
    const { MachineServiceService: api } = await import("../../talos/api/gen/machine/machine.ts");
    const roles = ["os:admin"];
    expect((await lab.call(waiting, api.hostname, {}, { roles })).messages[0]?.hostname).toBe("early");
    await lab.apply(waiting, configFor("worker", machine.address, "late"));
    await lab.clock.advance(5_000);
    expect(lab.now(waiting.id).partialConfig).toBeUndefined();
    expect(lab.now(waiting.id).life.stage).not.toBe("maintenance");
  });

  it("are refused when a part of the main one is there", async () => {
    const [waiting] = (await lab.machines(["half"])) as [Machine];
    await expect(lab.apply(waiting, "machine: {type: worker}\n")).rejects.toMatchObject({ status: "InvalidArgument" });
  });
});

describe("a machine of an older release in maintenance mode", () => {
  it("serves only what its small server has", async () => {
    const [old] = (await lab.machines(["old"], "v1.12.11")) as [Machine];
    const { MachineServiceService: api } = await import("../../talos/api/gen/machine/machine.ts");
    await expect(lab.call(old, api.version, {})).rejects.toMatchObject({
      status: "Unimplemented",
      message: "API is not implemented in maintenance mode",
    });
    const text = configFor("worker", machine.address, "old").replaceAll("v1.36.3", "v1.35.4");
    await expect(lab.apply(old, text, { mode: Mode.NO_REBOOT })).rejects.toMatchObject({
      message: "apply configuration --mode='no_reboot' is not supported in maintenance mode",
    });
    const dry = await lab.apply(old, text, { dryRun: true });
    expect(dry.messages[0]?.modeDetails).toMatch(/does not have a config yet\.$/);
  });
});

describe("a first config", () => {
  it("is refused with all its faults in the words of a real machine", async () => {
    const [blank] = (await lab.machines(["blank"])) as [Machine];
    const text = "machine:\n  type: controlplane\ncluster:\n  clusterName: x\n";
    await expect(lab.apply(blank, text)).rejects.toMatchObject({
      status: "InvalidArgument",
      message: expect.stringMatching(
        /^1 error occurred:\n\t\* v1alpha1\.Config: \d+ errors occurred:\n\t\* .*cluster controlplane endpoint is required/s,
      ),
    });
  });

  it("is refused when this release can't run its Kubernetes", async () => {
    const [blank] = (await lab.machines(["blank"])) as [Machine];
    const text = configFor("worker", machine.address, "blank").replaceAll("v1.36.3", "v1.30.0");
    await expect(lab.apply(blank, text)).rejects.toMatchObject({
      message: expect.stringContaining(
        "v1alpha1.Config: 1 error occurred:\n\t* kubelet image is not valid: version of Kubernetes 1.30.0 is too old to be used with Talos 1.13.9",
      ),
    });
  });

  it("for a disk that is not there brings the machine back to maintenance mode", async () => {
    const [blank] = (await lab.machines(["blank"])) as [Machine];
    await lab.apply(blank, configFor("worker", machine.address, "blank", ["machine: {install: {disk: /dev/nope}}"]));
    await lab.clock.advance(5_000);
    expect(lab.now(blank.id)).toMatchObject({ life: { stage: "maintenance" }, disk: { meta: {} } });
  });
});
