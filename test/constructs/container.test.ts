// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { instance, machineOf, stackOf } from "./project.ts";

const docker = stackOf(`
cluster: { name: tenant }
infrastructure: { kind: container, engine: docker, trustOnFirstUse: true, docker: { publish: {} } }
controlPlane: { count: 1, limits: { cpu: 500m, memory: 2GiB } }
workers: [{ count: 1 }, { name: more, count: 1, addressOffset: 60 }]
`);

const pods = stackOf(`
cluster: { name: tenant }
infrastructure: { kind: container, engine: kubernetes, trustOnFirstUse: true }
controlPlane: { count: 1, requests: { cpu: 1, memory: 2GiB }, limits: { memory: 4GiB } }
workers: [{ count: 1, disk: 50GiB }]
`);

describe("Talos in Docker", () => {
  it("has fixed addresses, and ports of the host for the first control plane alone", () => {
    const names = ["tenant-cp-1", "tenant-w-1", "tenant-more-1"];
    expect(names.map((name) => machineOf(docker, name).address)).toEqual(["10.5.0.2", "10.5.0.20", "10.5.0.60"]);
    expect(instance(docker, 'docker_container.control_plane["cp-1"]')).toMatchObject({
      privileged: true,
      read_only: true,
      env: ["PLATFORM=container"],
      memory: 2048,
      cpus: "0.5",
      ports: [
        { internal: 6443, external: 6443, ip: "127.0.0.1" },
        { internal: 50000, external: 50000, ip: "127.0.0.1" },
      ],
    });
    const withoutPorts = [instance(docker, 'docker_container.worker["w-1"]').ports];
    const three = stackOf(`
infrastructure: { kind: container, engine: docker, trustOnFirstUse: true, docker: { publish: {} } }
controlPlane: { count: 3 }
`);
    for (const key of ["cp-2", "cp-3"])
      withoutPorts.push(instance(three, `docker_container.control_plane["${key}"]`).ports);
    expect(withoutPorts).toEqual([undefined, [], []]);
  });

  it("is the same machine as long as its volume is, and leaves before its container goes", () => {
    expect(docker.resource.talosmith_member?.worker).toMatchObject({
      machine_id: "${docker_volume.worker_state[each.key].id}",
      depends_on: ["docker_container.worker"],
    });
  });
});

describe("Talos as pods", () => {
  const pod = (index: string) => instance(pods, `kubernetes_stateful_set_v1.${index}`) as unknown as StatefulSet;
  const worker = 'worker["w-1"]';

  it("gives each machine a pod of its own with requests, limits and volumes for STATE and EPHEMERAL", () => {
    const { container } = pod('control_plane["cp-1"]').spec.template.spec;
    expect(container.security_context).toEqual({ privileged: true, read_only_root_filesystem: true });
    expect(container.resources).toEqual({ requests: { cpu: "1", memory: "2048Mi" }, limits: { memory: "4096Mi" } });
    const paths = container.volume_mount.map(({ mount_path: path }) => path).sort();
    expect(paths).toEqual([
      "/etc/cni",
      "/etc/kubernetes",
      "/opt",
      "/run",
      "/system",
      "/system/state",
      "/tmp",
      "/usr/libexec/kubernetes",
      "/var",
    ]);
    const claims = pod(worker).spec.volume_claim_template.map(({ metadata, spec }) => [
      metadata.name,
      spec.resources.requests.storage,
    ]);
    expect(claims).toEqual([
      ["state", "100Mi"],
      ["ephemeral", "51200Mi"],
    ]);
    expect(pod(worker).spec.template.spec.container.resources).toBeUndefined();
  });

  it("is reached at the address of its service, which its certificate has", () => {
    const address = "kubernetes_service_v1.worker_service[key].spec[0].cluster_ip";
    const machines = String(pods.resource.talosmith_cluster?.cluster?.machines);
    expect(machines).toContain(`address   = ${address}\n`);
    expect(machines).toContain(`certSANs:\\n    - \${${address}}\\n`);
    expect(pods.resource.kubernetes_service_v1?.worker_service?.for_each).toBe("${local.worker}");
    expect(pods.resource.talosmith_cluster?.cluster?.endpoint).toBe(
      "https://${kubernetes_service_v1.endpoint.spec[0].cluster_ip}:6443",
    );
  });

  it("leaves before its stateful set goes, and its volumes with it", () => {
    expect(pods.resource.talosmith_member?.worker).toMatchObject({
      machine_id: "${kubernetes_stateful_set_v1.worker[each.key].metadata[0].uid}",
      depends_on: ["kubernetes_stateful_set_v1.worker"],
    });
  });

  it("holds no config and no secret: they come over the API", () => {
    expect(JSON.stringify([docker, pods])).not.toContain("USERDATA");
    expect(pods.data).toBeUndefined();
  });
});

interface StatefulSet {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly container: {
          readonly security_context: object;
          readonly resources?: object;
          readonly volume_mount: readonly { readonly mount_path: string }[];
        };
      };
    };
    readonly volume_claim_template: readonly {
      readonly metadata: { readonly name: string };
      readonly spec: { readonly resources: { readonly requests: { readonly storage: string } } };
    }[];
  };
}
