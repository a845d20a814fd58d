// SPDX-License-Identifier: Apache-2.0
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Machine } from "../../simulator/index.ts";
import { findProgram } from "../support/programs.ts";
import { Laboratory } from "./laboratory.ts";

/** The real programs, on the PATH or named; without them nothing is lost but this comparison. */
const talosctl = process.env.TALOSMITH_TALOSCTL ?? findProgram("talosctl");
const kubectl = process.env.TALOSMITH_KUBECTL ?? findProgram("kubectl");

let lab: Laboratory;
let folder: string;
let machines: Machine[];
/** Before and after an upgrade that this talosctl knows. */
let kubernetes: readonly [from: string, to: string];

interface Outcome {
  readonly code: number;
  readonly output: string;
}

function run(program: string, args: readonly string[]): Promise<Outcome> {
  const env = {
    ...process.env,
    TALOSCONFIG: join(folder, "talosconfig"),
    KUBECONFIG: join(folder, "kubeconfig"),
    HOME: folder,
  };
  return new Promise((resolve) => {
    execFile(program, [...args], { env, cwd: folder, timeout: 110_000 }, (error, stdout, stderr) => {
      resolve({
        code: typeof error?.code === "number" ? error.code : error === null ? 0 : -1,
        output: stdout + stderr,
      });
    });
  });
}

const talos = (...args: string[]): Promise<Outcome> => run(talosctl ?? "talosctl", args);
const address = (index: number): string => machines[index]?.address ?? "";

describe.runIf(talosctl !== undefined)("the real talosctl", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "talosmith-talosctl-"));
    lab = await Laboratory.open("talosctl");
    machines = await Promise.all(["cp-1", "cp-2", "cp-3", "w-1"].map((name) => lab.machine(name)));
    const old = /Talos v1\.12/.test((await talos("version", "--client", "--short")).output);
    kubernetes = old ? ["1.34.1", "1.35.4"] : ["1.35.4", "1.36.3"];
    const [first] = kubernetes;
    await talos("gen", "config", "lab", `https://${address(0)}:6443`, "-o", folder, "--kubernetes-version", first);
    await talos("config", "endpoint", address(0));
    await talos("config", "node", address(0));
    for (const [index, { name, maintenance: _, id }] of machines.entries()) {
      const fingerprint = lab.simulator.getMachine(id)?.fingerprint ?? "";
      const file = name.startsWith("cp") ? "controlplane.yaml" : "worker.yaml";
      const applied = await talos(
        "apply-config",
        "--insecure",
        "-n",
        address(index),
        "--cert-fingerprint",
        fingerprint,
        "-f",
        file,
      );
      expect(applied, name).toMatchObject({ code: 0 });
    }
    const [bootstrapped] = machines as [Machine];
    await lab.simulation.until((world) => world.machines[bootstrapped.id]?.services.cri?.health === "healthy");
    await lab.settled();
    expect(await talos("bootstrap")).toMatchObject({ code: 0 });
    await lab.ready(...machines);
    expect(await talos("kubeconfig", "kubeconfig", "--merge=false")).toMatchObject({ code: 0 });
  });

  afterAll(async () => {
    await lab.close();
    await rm(folder, { recursive: true, force: true });
  });

  it.each<[command: string, code: number, said: RegExp]>([
    ["version", 0, /Server:\n\tNODE:\s+127\.[\d.]+\n\tTag:\s+v1\.1[23]\.\d+[\s\S]*Enabled:\s+RBAC/],
    ["bootstrap", 1, /AlreadyExists desc = etcd data directory is not empty/],
    ["health", 0, /waiting for all k8s nodes to report schedulable: OK/],
    ["health --server=false", 0, /waiting for all k8s nodes to report schedulable: OK/],
    ["get members", 0, /Member\s+w-1\s+\d+\s+w-1\s+worker\s+Talos \(v1\.1[23]\.\d+\)/],
    ["get machineconfig -o yaml", 0, /type: MachineConfigs\.config\.talos\.dev/],
    ["get machinestatus -o yaml", 0, /stage: running\n\s+status:\n\s+ready: true\n\s+unmetConditions: \[\]/],
    ["get addresses", 0, /AddressStatus\s+eth0\/127/],
    ["get machinestatus", 0, /MachineStatus\s+machine\s+\d+\s+running\s+true/],
    ["get services", 0, /Service\s+etcd\s+\d+\s+true\s+true/],
    ["get etcdmembers -o yaml", 0, /memberID: "?[0-9a-f]+/],
    ["get nodename", 0, /Nodename\s+nodename\s+\d+\s+cp-1/],
    ["get manifests", 0, /Manifest\s+10-kube-proxy/],
    ["get kernelparamstatus", 0, /proc\.sys\.net\.ipv4\.ip_forward/],
    ["get nosuchthing", 1, /resource "nosuchthing" is not registered/],
    ["service", 0, /etcd\s+Running\s+OK/],
    ["etcd members", 0, /cp-3\s+https:\/\/127[\d.]+:2380\s+https:\/\/127[\d.]+:2379\s+false/],
    ["etcd status", 0, /3\.6\.1[12]\s+3\.6\.0/],
    ["etcd snapshot db.snapshot", 0, /snapshot info: hash [0-9a-f]+, revision \d+, total keys \d+/],
    ["etcd alarm list", 0, /^/],
    ["etcd forfeit-leadership", 0, /^/],
    ["etcd defrag", 0, /^/],
    ["etcd downgrade validate 3.5", 0, /downgrade validate success, cluster version 3\.6/],
    ["netstat -l -p", 0, /:::2379\s+:::\*\s+LISTEN\s+\d+\/etcd/],
    ["pcap -i lo --duration 1s", 1, /Unimplemented desc = the simulator does not serve PacketCapture/],
    ["inspect dependencies", 0, /MachineStatusController/],
    ["cgroups --preset cpu", 0, /podruntime/],
    ["processes", 0, /\/usr\/bin\/etcd/],
    ["mounts", 0, /\/dev\/sda4.*\/var/],
    ["ls /etc", 0, /os-release/],
    ["usage /var", 0, /\d/],
    ["read /etc/os-release", 0, /ID=talos/],
    ["logs etcd --tail 1", 0, /Health check successful/],
    ["dmesg", 0, /^[\d.]+: user: warning: .*\[talos\] service\[apid\]\(Running\)/m],
    ["containers -k", 0, /kube-apiserver-cp-1/],
    ["stats", 0, /apid/],
    ["memory", 0, /TOTAL/],
    ["time", 0, /time\.cloudflare\.com/],
    ["get disks", 0, /SIMULATED DISK/],
    ["apply-config --dry-run -f controlplane.yaml", 0, /Dry run summary:[\s\S]*No changes\./],
    ['patch mc -p {"machine":{"sysctls":{"a.b":"1"}}}', 0, /Applied configuration without a reboot/],
    ["read /nope", 1, /NotFound desc = stat \/nope: no such file or directory/],
    ["image list", 0, /kube-apiserver/],
    ["image pull ghcr.io/siderolabs/installer:v1.13.9", 0, /pulled image|^$/],
    ["config new reader --roles os:reader", 0, /^/],
  ])("%s", async (command, code, said) => {
    const outcome = await talos(...command.split(" "));
    expect(outcome).toEqual({ code, output: expect.stringMatching(said) as unknown });
  });

  it("sees the worker refuse what only control planes do, and a dead node beside a living one", async () => {
    expect((await talos("-n", address(3), "etcd", "members")).output).toContain(
      "member list is only available on control plane nodes",
    );
    const gone = address(0).replace(/\d+$/, "190");
    const { output } = await talos("-n", `${address(0)},${gone}`, "version");
    expect(output).toContain(`${gone}: rpc error: code = Unavailable`);
    expect(output).toMatch(/Server:\n\tNODE:\s+127[\d.]+\n\tTag:/);
  });

  it("upgrades Kubernetes, with images pulled before and manifests synced after", async () => {
    const before = await talos("get", "manifests");
    expect(before.output).toMatch(/10-kube-proxy/);
    const [from, to] = kubernetes;
    const { code, output } = await talos("upgrade-k8s", "--from", from, "--to", to);
    expect(output).toContain(`pre-pulling registry.k8s.io/kube-apiserver:v${to}`);
    expect(output).toMatch(/updating manifests/);
    expect(code, output).toBe(0);
  });

  it("reboots, upgrades, resets and shuts machines down, and follows them", async () => {
    const done = async (...args: string[]) => {
      const { code, output } = await talos(...args);
      expect(code, output).toBe(0);
    };
    await done("-n", address(1), "reboot");
    await done("-n", address(3), "upgrade", "--image", "ghcr.io/siderolabs/installer:v1.13.10");
    expect((await talos("-n", address(3), "version")).output).toContain("v1.13.10");
    await done("-n", address(2), "reset", "--reboot");
    await lab.reach(machines[2] as Machine, "maintenance");
    await done("-n", address(3), "shutdown");
  });

  it.runIf(kubectl !== undefined)(
    "leaves a kubeconfig that the real kubectl takes",
    async () => {
      const kube = (...args: string[]): Promise<Outcome> => run(kubectl ?? "kubectl", args);
      expect(await readFile(join(folder, "kubeconfig"), "utf8")).toContain("admin@lab");
      expect((await kube("get", "nodes", "-o", "wide")).output).toMatch(/cp-1\s+Ready\s+control-plane/);
      expect((await kube("get", "pods", "-A")).output).toMatch(/kube-apiserver-cp-1\s+1\/1\s+Running/);
      expect((await kube("get", "--raw", "/readyz")).output).toBe("ok");
      expect((await kube("cordon", "cp-2")).output).toContain("node/cp-2 cordoned");
      expect((await kube("drain", "cp-2", "--ignore-daemonsets", "--force")).output).toContain("node/cp-2 drained");
      expect((await kube("uncordon", "cp-2")).output).toContain("node/cp-2 uncordoned");
    },
    60_000,
  );
});
