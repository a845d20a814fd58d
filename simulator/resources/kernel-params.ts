// SPDX-License-Identifier: Apache-2.0
import type { Item } from "./item.ts";

/** What Talos sets by itself, and what the kernel has without it. */
const own: Readonly<Record<string, readonly [current: string, standard: string]>> = {
  "fs.aio-max-nr": ["1048576", "65536"],
  "fs.inotify.max_user_instances": ["8192", "128"],
  "kernel.panic": ["10", "0"],
  "kernel.pid_max": ["262144", "32768"],
  "net.ipv4.icmp_echo_ignore_broadcasts": ["1", "1"],
  "net.ipv4.icmp_ignore_bogus_error_responses": ["1", "1"],
  "net.ipv4.ip_forward": ["1", "0"],
  "net.ipv4.ip_local_reserved_ports": ["50000,50001", ""],
  "net.ipv4.tcp_keepalive_intvl": ["60", "75"],
  "net.ipv4.tcp_keepalive_time": ["600", "7200"],
  "net.ipv6.conf.default.accept_ra": ["2", "1"],
  "net.ipv6.conf.default.forwarding": ["1", "0"],
  "vm.overcommit_memory": ["1", "0"],
};

/** The kernels that we stand in for know these subsystems; a parameter of any other is one that they lack. */
const subsystems = /^(abi|crypto|debug|dev|fs|kernel|net|user|vm)\./;

/** Every kernel parameter that Talos or the config sets, as the machine has it now. */
export function kernelParams(configured: Readonly<Record<string, string>>): readonly Item[] {
  const names = [...new Set([...Object.keys(own), ...Object.keys(configured)])].sort();
  return names.map((name) => {
    const unsupported = !subsystems.test(name);
    const [current = "", standard = ""] = own[name] ?? [];
    const value = unsupported ? "" : (configured[name] ?? current);
    return { id: `proc.sys.${name}`, spec: { current: value, default: standard, unsupported } };
  });
}
