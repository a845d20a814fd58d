// SPDX-License-Identifier: Apache-2.0
import type { Node } from "yaml";
import { textAt, type valueAt } from "../document/value.ts";
import { controlPlaneRole } from "../generate/common-values.ts";
import { findDocument } from "../placed-setting.ts";
import { proxySetting } from "../proxy-settings.ts";
import { childAt, deletion, entriesOf, isDeletion, itemsOf, listOf, mapOf, text, textOf } from "./nodes.ts";
import {
  type MigrationTarget,
  nothing,
  type Outcome,
  type Placement,
  type Rule,
  rule,
  type Unmovable,
  unlessEmpty,
} from "./rules.ts";
import { pem } from "./value-rules.ts";

const volumes =
  "no document has it: put the files where Talos mounts them already, or run the component with other arguments";

const mounts =
  "no document has it: use a UserVolumeConfig, which is mounted below /var/mnt and which pods reach by hostPath";

export const kubernetesRules: readonly Rule[] = [
  rule("machine.features.kubePrism", 14, kubePrism),
  rule("machine.kubelet.disableManifestsDirectory", 14, (node) =>
    textOf(node) === "true" ? nothing : "the directory is always disabled: use KubeStaticPodConfig documents",
  ),
  rule("machine.kubelet.extraMounts", 14, unlessEmpty(mounts)),
  rule("cluster.allowSchedulingOnControlPlanes", 14, scheduling),
  rule("cluster.allowSchedulingOnMasters", 14, scheduling),
  rule("cluster.acceptedCAs", 14, acceptedCas),
  rule("cluster.discovery", 14, discovery),
  rule("cluster.network.cni", 14, podNetwork),
  rule("cluster.apiServer.extraArgs", 14, apiServerArguments),
  rule("cluster.apiServer.extraVolumes", 14, unlessEmpty(volumes)),
  rule("cluster.controllerManager.extraVolumes", 14, unlessEmpty(volumes)),
  rule("cluster.scheduler.extraVolumes", 14, unlessEmpty(volumes)),
  rule("cluster.apiServer.disablePodSecurityPolicy", 14, () => nothing),
  rule("cluster.apiServer.admissionControl", 14, admissionControl),
  rule("cluster.apiServer.authorizationConfig", 14, authorizers),
  rule("cluster.proxy.extraArgs", 14, proxyArguments),
];

function has(target: MigrationTarget, kind: string, name?: string): boolean {
  return findDocument(target.base.controlplane, { kind, ...(name === undefined ? {} : { name }) }) !== undefined;
}

/** Takes a document away that is there; of one that is not, nothing is left to do. */
function without(target: MigrationTarget, kind: string, name?: string): readonly Placement[] {
  return has(target, kind, name) ? [{ kind, name, path: [], node: deletion() }] : [];
}

function kubePrism(node: Node, target: MigrationTarget): Outcome {
  const kind = "KubePrismConfig";
  if (isDeletion(node) || textOf(childAt(node, "enabled")) === "false") return { placements: without(target, kind) };
  const port = childAt(node, "port");
  if (port === undefined && has(target, kind)) return nothing;
  return { placements: [{ kind, path: ["port"], node: port ?? text("7445") }] };
}

/** Only the taint: the label that keeps control planes out of load balancers was never taken away by this. */
function scheduling(node: Node, target: MigrationTarget): Outcome {
  const kind = "KubeNodeConfig";
  const taints = findDocument(target.base.controlplane, { kind })?.section.get("taints");
  const isTainted = taints instanceof Map && taints.has(controlPlaneRole);
  const wanted = isDeletion(node) || textOf(node) !== "true";
  if (isTainted === wanted) return nothing;
  const taint = wanted ? text("NoSchedule") : deletion();
  return { placements: [{ kind, path: ["taints", controlPlaneRole], node: taint, controlPlane: true }] };
}

function acceptedCas(node: Node): Outcome | string {
  if (isDeletion(node) || itemsOf(node).some(isDeletion))
    return "the CA of workers is in the same list in the newer form";
  const certificates = itemsOf(node).map((item) => pem(childAt(item, "crt")));
  return { placements: [{ kind: "KubeAPIServerCAConfig", path: ["acceptedCAs"], node: listOf(certificates, node) }] };
}

function discovery(node: Node, target: MigrationTarget): Outcome | string {
  const [kind, name] = ["DiscoveryServiceConfig", "default"];
  const service = childAt(childAt(node, "registries"), "service");
  const kubernetes = childAt(childAt(childAt(node, "registries"), "kubernetes"), "disabled");
  if (kubernetes !== undefined && textOf(kubernetes) !== "true")
    return "discovery through Kubernetes does not exist in the newer form: use the discovery service, and remove it here";
  const isOff =
    isDeletion(node) || textOf(childAt(node, "enabled")) === "false" || textOf(childAt(service, "disabled")) === "true";
  if (isOff) return { placements: without(target, kind, name) };
  const endpoint = childAt(service, "endpoint");
  const isOn = textOf(childAt(node, "enabled")) === "true";
  if (endpoint === undefined && (has(target, kind, name) || !isOn)) return nothing;
  const url = endpoint ?? text("https://discovery.talos.dev/");
  return { placements: [{ kind, name, path: ["endpoint"], node: url }] };
}

function podNetwork(node: Node, target: MigrationTarget): Outcome | string {
  const kind = "KubeFlannelCNIConfig";
  if (isDeletion(node)) return "$patch: delete has no counterpart here: set cluster.cni in the environment";
  const name = textOf(childAt(node, "name"));
  const urls = itemsOf(childAt(node, "urls"));
  if (urls.length > 0 && name !== "custom") return "urls need the name custom in the same patch";
  const flannel = entriesOf(childAt(node, "flannel")).map(({ key, value }) => ({
    kind,
    path: [key.value],
    node: value,
  }));
  if (name === "" || name === "flannel") {
    const isNew = name === "flannel" && !has(target, kind);
    const backend: Placement[] = [
      { kind, path: ["backendType"], node: text("vxlan") },
      { kind, path: ["backendPort"], node: text("4789") },
    ];
    return { placements: [...(isNew ? backend : []), ...flannel] };
  }
  const manifests = target.base.controlplane.filter((document) => /^custom-cni/.test(textAt(document.section, "name")));
  const added = urls.map((url, index): Placement => {
    const number = manifests.length + index + 1;
    const title = number === 1 ? "custom-cni" : `custom-cni-${number}`;
    return { kind: "KubeExternalManifestConfig", name: title, path: ["url"], node: url, controlPlane: true };
  });
  return { placements: [...without(target, kind), ...added] };
}

/** Arguments that documents have taken the place of, as Talos 1.14 refuses them. */
const replaced: readonly (readonly [prefix: string, kind: string])[] = [
  ["anonymous-auth", "KubeAuthenticationConfig"],
  ["oidc-", "KubeAuthenticationConfig"],
  ["authentication-config", "KubeAuthenticationConfig"],
  ["authorization-", "KubeAuthorizerConfig"],
];

function apiServerArguments(node: Node): Outcome {
  const kind = "KubeAPIServerConfig";
  if (isDeletion(node)) return { placements: [{ kind, path: ["extraArgs"], node }] };
  const unmovable: Unmovable[] = [];
  const placements: Placement[] = [];
  for (const { key, value } of entriesOf(node)) {
    const [, instead] = replaced.find(([prefix]) => key.value.startsWith(prefix)) ?? [];
    // What Talos does by itself in the older form.
    if (key.value === "anonymous-auth" && textOf(value) === "false") continue;
    if (instead === undefined) placements.push({ kind, path: ["extraArgs", key.value], node: value });
    else unmovable.push({ path: [key.value], reason: `say it in a ${instead} document instead of an argument` });
  }
  return { placements, unmovable };
}

function admissionControl(node: Node): Outcome | string {
  if (isDeletion(node)) return "delete the plugins by name instead: { name: PodSecurity, $patch: delete }";
  const placements = itemsOf(node).flatMap((plugin): Placement[] => {
    const name = textOf(childAt(plugin, "name"));
    const kind = "KubeAdmissionControlConfig";
    if (isDeletion(plugin)) return [{ kind, name, path: [], node: deletion() }];
    return [{ kind, name, path: ["configuration"], node: childAt(plugin, "configuration") ?? mapOf([]) }];
  });
  return { placements };
}

function authorizers(node: Node): Outcome | string {
  const all = itemsOf(node);
  if (isDeletion(node) || all.some((one) => isDeletion(one) || textOf(childAt(one, "type")) !== "Webhook"))
    return "the order of authorizers may change: write KubeAuthorizerConfig documents";
  const placements = all.flatMap((one) =>
    entriesOf(one).flatMap(({ key, value }): Placement[] => {
      if (key.value === "name") return [];
      const name = textOf(childAt(one, "name"));
      return [{ kind: "KubeAuthorizerConfig", name, path: [key.value], node: value }];
    }),
  );
  return { placements };
}

function proxyArguments(node: Node): Outcome | string {
  if (isDeletion(node)) return "$patch: delete has no counterpart here: kube-proxy reads a file in the newer form";
  const unmovable: Unmovable[] = [];
  const placements: Placement[] = [];
  for (const { key, value } of entriesOf(node)) {
    const setting = isDeletion(value) ? undefined : proxySetting(key.value, textOf(value));
    const reason = `kube-proxy reads a file in the newer form and ignores this flag: set its field in KubeProxyConfig.config`;
    if (setting === undefined) unmovable.push({ path: [key.value], reason });
    else
      placements.push({ kind: "KubeProxyConfig", path: setting.path.split("."), node: sameOr(value, setting.value) });
  }
  return { placements, unmovable };
}

/** The node as it is written, comments and all, where its value is the same. */
function sameOr(node: Node, value: ReturnType<typeof valueAt>): Node {
  if (Array.isArray(value)) return listOf(value.map((item) => text(String(item))));
  return typeof value === "boolean" ? text(String(value)) : node;
}
