// SPDX-License-Identifier: Apache-2.0

import { stringify } from "yaml";
import { configOf, hostnameOf } from "../controllers/membership.ts";
import { kernel } from "../machine/hardware.ts";
import { runningServices } from "../machine/life.ts";
import { kubernetesCas } from "../machine/node-config.ts";
import type { Machine } from "../machine/world.ts";

/** The files that a simulated machine has, by absolute path. */
export function filesOf(machine: Machine, now: number): ReadonlyMap<string, string> {
  const config = configOf(machine);
  const hostname = hostnameOf(machine);
  const seconds = ((now - machine.bootedAt) / 1_000).toFixed(2);
  const files = new Map([
    ["/etc/hostname", `${hostname}\n`],
    ["/etc/hosts", `127.0.0.1 localhost\n${machine.address} ${hostname}\n::1 localhost ip6-localhost ip6-loopback\n`],
    [
      "/etc/os-release",
      `NAME="Talos"\nID=talos\nVERSION_ID=${machine.talosVersion}\nPRETTY_NAME="Talos (${machine.talosVersion})"\nHOME_URL="https://www.talos.dev/"\n`,
    ],
    ["/etc/resolv.conf", "nameserver 127.0.0.53\n"],
    ["/proc/cmdline", `${kernel.cmdline}\n`],
    ["/proc/sys/kernel/random/boot_id", `${machine.bootId}\n`],
    ["/proc/uptime", `${seconds} ${seconds}\n`],
    ["/proc/version", `Linux version ${kernel.version} (simulated)\n`],
  ]);
  if (config !== undefined && machine.activeConfig !== undefined) {
    files.set("/system/state/config.yaml", machine.activeConfig);
    files.set(
      "/etc/kubernetes/kubelet.yaml",
      stringify({
        apiVersion: "kubelet.config.k8s.io/v1beta1",
        kind: "KubeletConfiguration",
        clusterDomain: config.dnsDomain,
      }),
    );
    files.set("/etc/kubernetes/bootstrap-kubeconfig", stringify({ apiVersion: "v1", kind: "Config" }));
    files.set("/etc/kubernetes/pki/ca.crt", kubernetesCas(config).join(""));
  }
  for (const [path, content] of [...varFiles(machine), ...controlGroups(machine, now)]) files.set(path, content);
  return files;
}

/** What services leave on the disk. */
function varFiles(machine: Machine): readonly (readonly [path: string, content: string])[] {
  const { etcd } = machine.disk;
  const files = Object.entries(machine.services).map(([id, { events }]): [string, string] => [
    `/var/log/${id}.log`,
    events.map(({ message }) => `${message}\n`).join(""),
  ]);
  if (etcd !== undefined) files.push(["/var/lib/etcd/member/id", `${etcd.memberId}\n`]);
  files.push(["/sys/dev/block/8:0/uevent", "MAJOR=8\nMINOR=0\nDEVNAME=sda\nDEVTYPE=disk\n"]);
  return files;
}

const podRuntime = ["etcd", "kubelet", "cri"];

/** The tree that `talosctl cgroups` reads: one group for every service that runs. */
function controlGroups(machine: Machine, now: number): readonly (readonly [path: string, content: string])[] {
  const micros = Math.max(0, now - machine.bootedAt) * 12;
  const group = (path: string, pids: readonly number[]): (readonly [string, string])[] => [
    [`/sys/fs/cgroup${path}/cgroup.procs`, pids.map((pid) => `${pid}\n`).join("")],
    [`/sys/fs/cgroup${path}/pids.current`, `${pids.length}\n`],
    [`/sys/fs/cgroup${path}/memory.current`, `${pids.length * 52_428_800}\n`],
    [`/sys/fs/cgroup${path}/memory.max`, "max\n"],
    [`/sys/fs/cgroup${path}/cpu.weight`, "100\n"],
    [`/sys/fs/cgroup${path}/cpu.stat`, `usage_usec ${micros}\nuser_usec ${micros}\nsystem_usec 0\n`],
  ];
  return [
    ...group("", []),
    ...group("/init", [1]),
    ...group("/podruntime", []),
    ...group("/system", []),
    ...runningServices(machine)
      .filter(({ id }) => id !== "machined")
      .flatMap(({ id, pid }) => group(`/${podRuntime.includes(id) ? "podruntime" : "system"}/${id}`, [pid])),
  ];
}

export interface Entry {
  readonly path: string;
  readonly directory: boolean;
  readonly size: number;
}

/** A folder and what is below it down to a depth, parents before children. Undefined when there is no such path. */
export function walk(files: ReadonlyMap<string, string>, root: string, depth: number): readonly Entry[] | undefined {
  const base = root === "/" ? "" : root.replace(/\/+$/, "");
  const content = files.get(base);
  if (content !== undefined) return [{ path: base, directory: false, size: Buffer.byteLength(content) }];
  const entries = new Map<string, Entry>();
  for (const [path, text] of files) {
    if (!path.startsWith(`${base}/`)) continue;
    const parts = path.slice(base.length + 1).split("/");
    for (let level = 1; level <= Math.min(parts.length, depth); level += 1) {
      const full = `${base}/${parts.slice(0, level).join("/")}`;
      const directory = level < parts.length;
      entries.set(full, { path: full, directory, size: directory ? 4_096 : Buffer.byteLength(text) });
    }
  }
  if (entries.size === 0) return undefined;
  const sorted = [...entries.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  return [{ path: base === "" ? "/" : base, directory: true, size: 4_096 }, ...sorted];
}

/** One ustar entry: its header and its content, padded to whole blocks when something follows. */
export function tarEntry(name: string, content: Buffer, now: number, padded: boolean): Buffer {
  const header = Buffer.alloc(512);
  const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, "0")}\0`;
  header.write(name, 0);
  header.write(octal(0o600, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(content.length, 12), 124);
  header.write(octal(Math.floor(now / 1_000), 12), 136);
  header.write("        ", 148);
  header.write("0", 156);
  header.write("ustar\x0000", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const padding = padded ? Buffer.alloc((512 - (content.length % 512)) % 512) : Buffer.alloc(0);
  return Buffer.concat([header, content, padding]);
}
