// SPDX-License-Identifier: Apache-2.0
// For each rule an environment that breaks it and no other, and what each entrance says of it.

type Data = Readonly<Record<string, unknown>>;

export interface Case {
  /** An environment file, as data. */
  readonly data: Data;
  /** Where the file has it. */
  readonly file: string;
  /** Path of the construct that is named; or why no construct can be given this. */
  readonly construct: string | { readonly never: string };
  /** The attribute of talosmith_cluster; or why it has none. */
  readonly provider: string | { readonly never: string };
  /** A part of the engine's message; or why the engine does not know of it. */
  readonly engine: string | { readonly never: string };
}

const cluster = "rules/Default";
const infrastructure = "rules/Infrastructure";
const unlike = { never: "only an environment has pools and infrastructure" } as const;
const file = { never: "constructs have no such setting" } as const;

const simulated = (more: Data): Data => ({
  infrastructure: { kind: "simulated" },
  controlPlane: { count: 1 },
  ...more,
});
const ofCluster = (settings: Data) => simulated({ cluster: settings });
const aws = (own: Data = {}, more: Data = {}): Data => ({
  infrastructure: { kind: "aws", region: "eu-central-1", adminCidrs: ["203.0.113.7/32"], ...own },
  controlPlane: { count: 1 },
  ...more,
});
const libvirt = (own: Data = {}, more: Data = {}): Data => ({
  infrastructure: { kind: "libvirt", trustOnFirstUse: true, ...own },
  controlPlane: { count: 1 },
  workers: [{ count: 1 }],
  ...more,
});
const plane = { address: "10.1.0.1", role: "controlplane" };
const metal = (machines: Data, own: Data = {}, more: Data = {}): Data => ({
  infrastructure: { kind: "metal", trustOnFirstUse: true, machines, ...own },
  ...more,
});
const docker = (own: Data = {}, more: Data = {}): Data => ({
  infrastructure: { kind: "container", engine: "docker", trustOnFirstUse: true, docker: own },
  controlPlane: { count: 1 },
  ...more,
});
const inFile = (data: Data, path: string, construct: Case["construct"] = infrastructure): Case => ({
  data,
  file: path,
  construct,
  provider: unlike,
  engine: unlike,
});

/** Values that are wrong by themselves, at every entrance. */
export const valueCases: Readonly<Record<string, Case>> = {
  networksGiven: {
    data: ofCluster({ podCidrs: [] }),
    file: "cluster.podCidrs",
    construct: cluster,
    provider: "pod_subnets",
    engine: "podCidrs: found an empty list",
  },
  networksValid: {
    data: ofCluster({ podCidrs: ["10.0.0.0/99"] }),
    file: "cluster.podCidrs[0]",
    construct: cluster,
    provider: "pod_subnets[0]",
    engine: 'podCidrs[0]: found "10.0.0.0/99", expected a network',
  },
  domainIsName: {
    data: ofCluster({ domain: "not_a_name" }),
    file: "cluster.domain",
    construct: cluster,
    provider: "dns_domain",
    engine: 'domain: found "not_a_name"',
  },
  certSansValid: {
    data: ofCluster({ certSans: ["10.0.0.300"] }),
    file: "cluster.certSans[0]",
    construct: cluster,
    provider: "additional_sans[0]",
    engine: 'certSans[0]: found "10.0.0.300"',
  },
  contractsKnown: {
    data: ofCluster({ configContract: "v1.4" }),
    file: "cluster.configContract",
    construct: cluster,
    provider: "config_contract",
    engine: "Talos v1.4 is not known",
  },
};

const kubespan = { kubespan: true, discovery: false };
const address = "10.244.3.1";

/** Settings that do not go together, at every entrance. */
export const settingCases: Readonly<Record<string, Case>> = {
  podsAndServicesApart: {
    data: ofCluster({ podCidrs: ["10.96.0.0/16"] }),
    file: "cluster.serviceCidrs[0]",
    construct: cluster,
    provider: "service_subnets[0]",
    engine: "10.96.0.0/12, which overlaps 10.96.0.0/16 of podCidrs",
  },
  nodesApart: {
    data: metal({ m: { address, role: "controlplane" } }),
    file: "cluster.podCidrs[0]",
    construct: cluster,
    provider: "pod_subnets[0]",
    engine: `overlaps m's address ${address}`,
  },
  kubespanDiscovers: {
    data: ofCluster(kubespan),
    file: "cluster.kubespan",
    construct: cluster,
    provider: "kubespan",
    engine: "kubespan with discovery: false",
  },
  talosReadsContract: {
    data: ofCluster({ talosVersion: "v1.13.9", configContract: "v1.14" }),
    file: "cluster.configContract",
    construct: cluster,
    provider: "config_contract",
    engine: "v1.14 with Talos v1.13.9",
  },
  contractGoesUp: {
    data: ofCluster({ configContract: "v1.12", previousContract: "v1.13" }),
    file: "cluster.previousContract",
    construct: cluster,
    provider: "previous_contract",
    engine: "previousContract: found v1.13",
  },
};

const long = "a".repeat(40);

/** Of the environment, for every kind. */
export const commonCases: Readonly<Record<string, Case | "warning">> = {
  oddControlPlanes: "warning",
  supportedKubernetes: {
    data: ofCluster({ kubernetesVersion: "1.20.0" }),
    file: "cluster.kubernetesVersion",
    construct: cluster,
    provider: "kubernetes_version",
    engine: "too old to be used with Talos",
  },
  knownTalos: "warning",
  credentialsInState: "warning",
  poolNamesUnique: inFile(simulated({ workers: [{ name: "cp" }] }), "workers[0].name", cluster),
  poolAddressesDiffer: inFile(
    simulated({ workers: [{ name: "control-plane" }] }),
    "workers[0].name",
    `${cluster}/control-plane/Resource`,
  ),
  machineNamesFit: {
    data: simulated({ cluster: { name: long }, workers: [{ name: long, count: 1 }] }),
    file: "cluster.name",
    construct: cluster,
    provider: `machines["${long}-${long}-1"]`,
    engine: "of 83 characters, expected at most 63",
  },
  patchedMachinesExist: inFile(
    ofCluster({ patches: { machines: { nobody: ["machine: {}"] } } }),
    "cluster.patches.machines.nobody",
    cluster,
  ),
  backupsHavePlace: inFile(simulated({ backup: {} }), "backup", file),
  podsAndServicesApart: settingCases.podsAndServicesApart as Case,
  kubespanDiscovers: settingCases.kubespanDiscovers as Case,
  talosReadsContract: settingCases.talosReadsContract as Case,
  contractGoesUp: settingCases.contractGoesUp as Case,
  offlineDiscovery: "warning",
  onlyNodeId: "warning",
  imagesOfRelease: {
    data: ofCluster({ talosVersion: "v1.13.9", installImage: "ghcr.io/siderolabs/installer:v1.13.5" }),
    file: "cluster.installImage",
    construct: cluster,
    // By what the machines run: test/engine/image-findings.test.ts
    provider: { never: "an adopted cluster has the image that it was installed with; its plan is refused" },
    engine: { never: "a machine that runs the release keeps its image; others are refused" },
  },
  ruleNamesUnique: inFile(
    ofCluster({
      firewall: {
        nodes: ["10.0.0.0/8"],
        rules: ["x", "x"].map((name) => ({ name, ports: [80], from: ["10.0.0.0/8"] })),
      },
    }),
    "cluster.firewall.rules[1].name",
    file,
  ),
  addonNamesUnique: inFile(
    simulated({ addons: ["a", "a"].map((name) => ({ name, chart: "./c", namespace: "n" })) }),
    "addons[1].name",
    file,
  ),
  addonsNeedKubernetes: inFile(
    simulated({ rollout: { healthLevel: "talos" }, addons: [{ name: "a", chart: "./c", namespace: "n" }] }),
    "rollout.healthLevel",
    file,
  ),
  addonOrder: inFile(
    simulated({ addons: [{ name: "a", chart: "./c", namespace: "n", after: ["b"] }] }),
    "addons[0].after[0]",
    file,
  ),
  podNetwork: inFile(
    simulated({ addons: [{ name: "a", chart: "./c", namespace: "n", cni: true }] }),
    "addons[0].cni",
    file,
  ),
};

const vpc = { id: "vpc-0123456789abcdef0", cidr: "10.0.0.0/16" };
const subnets = (name: string) => [1, 2, 3].map((n) => `subnet-0123456789${name}${n}`);
const given = { ...vpc, publicSubnetIds: subnets("a"), privateSubnetIds: subnets("b"), natCidrs: ["198.51.100.9/32"] };
const fingerprint = `${"A".repeat(43)}=`;
const firewall = { firewall: { nodes: ["192.168.0.0/16"] } };
const worker = (more: Data) => ({ address: "10.1.0.2", role: "worker", ...more });

/** Of one kind of infrastructure. */
export const kindCases: Readonly<Record<string, Readonly<Record<string, Case | "warning">>>> = {
  simulated: {},
  aws: {
    firstContactChosen: inFile(aws({ access: "public" }), "infrastructure"),
    notTheWorld: inFile(aws({ adminCidrs: ["0.0.0.0/0"] }), "infrastructure.adminCidrs[0]"),
    someoneMayEnter: inFile(aws({ adminCidrs: [] }), "infrastructure.access"),
    madeOrGiven: inFile(aws({ vpc: { natCidrs: ["198.51.100.9/32"] } }), "infrastructure.vpc.natCidrs"),
    zonesOfTheRegion: inFile(aws({ zones: ["us-east-1a"] }), "infrastructure.zones[0]"),
    tagsThatAwsTakes: inFile(aws({ tags: { "aws:x": "y" } }), "infrastructure.tags.aws:x"),
    roomForSubnets: inFile(aws({ vpc: { cidr: "10.0.0.0/24" } }), "infrastructure.vpc.cidr"),
    ownControlPlane: inFile(
      { ...aws(), controlPlane: undefined, controlPlaneRef: "other", workers: [{ count: 1 }] },
      "controlPlaneRef",
      cluster,
    ),
    stateIsShared: "warning",
    subnetsGiven: inFile(
      aws({ vpc: { ...given, privateSubnetIds: subnets("b").slice(1) } }),
      "infrastructure.vpc.privateSubnetIds",
    ),
    poolZonesKnown: inFile(
      aws({}, { workers: [{ count: 1, zones: ["eu-central-1d"] }] }),
      "workers[0].zones[0]",
      `${cluster}/w`,
    ),
    bucketIsUsed: inFile(aws({ backups: {} }), "infrastructure.backups", {
      never: "constructs have backups apart from the infrastructure",
    }),
    expiryAgrees: inFile(
      aws({ backups: { expireDays: 1 } }, { backup: { keep: { age: "2d" } } }),
      "infrastructure.backups.expireDays",
      { never: "constructs have backups apart from the infrastructure" },
    ),
    bucketIsReached: "warning",
    nameIsFound: "warning",
    ownRules: inFile(
      aws({ securityGroupRules: { ingress: [{ description: "x", ports: "40000-60000", cidrs: ["0.0.0.0/0"] }] } }),
      "infrastructure.securityGroupRules.ingress[0].cidrs",
    ),
    oneProfile: inFile(
      aws({ iam: { worker: { instanceProfile: "own", policyArns: ["arn:aws:iam::aws:policy/ReadOnlyAccess"] } } }),
      "infrastructure.iam.worker.policyArns",
    ),
    autoscalerKnowsNodes: inFile(aws({ clusterAutoscaler: true }), "infrastructure.clusterAutoscaler"),
    wayBackIn: inFile(aws({ vpc: { ...given, natCidrs: [] } }), "infrastructure.vpc.natCidrs"),
    scalingInOrder: inFile(
      aws({}, { workers: [{ count: 9, scaling: { min: 1, max: 3 } }] }),
      "workers[0].scaling",
      `${cluster}/w`,
    ),
    architectureFits: inFile(
      aws({}, { workers: [{ count: 1, instanceType: "m7g.large" }] }),
      "workers[0].instanceType",
      `${cluster}/w`,
    ),
    enoughDisk: "warning",
    rolesOfControlPlanes: "warning",
    imageHasExtensions: "warning",
    nodesApart: inFile(aws({ vpc: { cidr: "10.244.0.0/16" } }), "cluster.podCidrs[0]", cluster),
  },
  libvirt: {
    firstContactChosen: inFile(libvirt({ trustOnFirstUse: false }), "infrastructure"),
    oneUserData: inFile(
      libvirt({ trustOnFirstUse: false, machineConfig: "user-data", cloudInit: { userData: "./user-data.hbs" } }),
      "infrastructure.machineConfig",
    ),
    insideNetwork: inFile(libvirt({ network: { vip: "10.9.9.9" } }), "infrastructure.network.vip"),
    architecturesFit: inFile(
      libvirt({}, { workers: [{ count: 1, architecture: "arm64" }] }),
      "workers[0].architecture",
      `${cluster}/w`,
    ),
    furtherPoolsHaveOffsets: inFile(
      libvirt({}, { workers: [{ count: 1 }, { name: "x", count: 1 }] }),
      "workers[1]",
      infrastructure,
    ),
    machinesFit: inFile(libvirt({}, { workers: [{ count: 200 }] }), "workers[0].count", `${cluster}/w`),
    addressesDiffer: inFile(libvirt({}, { workers: [{ count: 1, addressOffset: 70 }] }), "workers[0]", infrastructure),
    sharedEndpoint: "warning",
    enoughHardware: "warning",
    nodesApart: inFile(libvirt({ network: { cidr: "10.244.0.0/24" } }), "cluster.podCidrs[0]", cluster),
    nodesCovered: inFile(libvirt({}, { cluster: firewall }), "cluster.firewall.nodes", file),
  },
  metal: {
    addressesDiffer: inFile(
      metal({ a: plane, b: { ...plane, role: "worker" } }, {}, { workers: [{}] }),
      "infrastructure.machines.b.address",
    ),
    oneDisk: inFile(
      metal({ a: { ...plane, disk: "/dev/sda", diskSelector: { type: "ssd" } } }),
      "infrastructure.machines.a.diskSelector",
    ),
    oneImage: inFile(
      metal({ a: { ...plane, image: "x:v1", schematic: { extensions: [] } } }),
      "infrastructure.machines.a.schematic",
    ),
    known: inFile(metal({ a: plane }, { trustOnFirstUse: false }), "infrastructure.machines.a"),
    metaKeys: inFile(metal({ a: plane }, { meta: { "300": "x" } }), "infrastructure.meta.300"),
    machineMetaKeys: inFile(metal({ a: { ...plane, meta: { "6": "x" } } }), "infrastructure.machines.a.meta.6"),
    oneLink: inFile(
      metal({ a: { ...plane, link: "eth0", mac: "0c:c4:7a:00:00:01" } }),
      "infrastructure.machines.a.mac",
    ),
    machinesInsideNetwork: inFile(
      metal({ a: { ...plane, link: "eth0" } }, { network: { cidr: "10.2.0.0/24" } }),
      "infrastructure.machines.a.address",
    ),
    insideNetwork: inFile(
      metal({ a: { ...plane, link: "eth0", fingerprint } }, { network: { cidr: "10.1.0.0/24", gateway: "10.2.0.1" } }),
      "infrastructure.network.gateway",
    ),
    someControlPlane: inFile(metal({ a: worker({}) }, {}, { workers: [{}] }), "infrastructure.machines", {
      never: "a pool of control planes has at least one, by its count",
    }),
    poolsExist: inFile(
      metal({ a: plane, b: worker({ pool: "nobody" }) }, {}, { workers: [{}] }),
      "infrastructure.machines.b.pool",
      {
        never: "a pool names its machines",
      },
    ),
    sharedEndpoint: "warning",
    nodesApart: settingCases.nodesApart as Case,
    nodesCovered: inFile(metal({ a: plane }, {}, { cluster: firewall }), "cluster.firewall.nodes", file),
  },
  container: {
    firstContactChosen: inFile(
      { infrastructure: { kind: "container", engine: "docker" }, controlPlane: { count: 1 } },
      "infrastructure",
    ),
    ownEngine: inFile(
      {
        infrastructure: { kind: "container", engine: "kubernetes", trustOnFirstUse: true, docker: {} },
        controlPlane: { count: 1 },
      },
      "infrastructure.docker",
      { never: "each engine has a construct of its own" },
    ),
    furtherPoolsHaveOffsets: inFile(
      docker({}, { workers: [{ count: 1 }, { name: "x", count: 1 }] }),
      "workers[1]",
      `${cluster}/x`,
    ),
    placesFit: inFile(docker({ cidr: "10.5.0.0/28" }, { workers: [{ count: 1 }] }), "workers[0]", `${cluster}/w`),
    nodesApart: inFile(docker({ cidr: "10.244.0.0/24" }), "cluster.podCidrs[0]", cluster),
  },
};
