// SPDX-License-Identifier: Apache-2.0
import { schedulesOnControlPlanes } from "../../talos/config/index.ts";
import { allZones, zoneNames } from "../environment/aws-zones.ts";
import { Cidr } from "../environment/cidr.ts";
import type { Environment } from "../environment/environment.ts";
import { ownBucket } from "../environment/own-bucket.ts";
import { formatSize } from "../environment/quantity.ts";
import { minimumHardware } from "../schema/index.ts";
import { usualVpc } from "./cluster.ts";
import { error, poolsOf, type Rules, ruleFor, warning } from "./rule.ts";

type AwsEnvironment = Extract<Environment, { kind: "aws" }>;

const path = (...steps: readonly (string | number)[]) => ["infrastructure", ...steps];

const notTheWorld = ruleFor("aws", ({ infrastructure }) =>
  infrastructure.adminCidrs.flatMap((text, index) =>
    !isWide(text)
      ? []
      : error({
          path: path("adminCidrs", index),
          expected: "networks of people who administer the cluster, /8 or smaller",
          hint: "Name your own addresses. To open the Kubernetes API alone, say kubernetesApiFromAnywhere: true.",
        }),
  ),
);

const someoneMayEnter = ruleFor("aws", ({ infrastructure: { access, adminCidrs, talosEndpoints } }) => {
  if (access === "private")
    return talosEndpoints.length > 0
      ? []
      : error({
          path: path("access"),
          expected: "talosEndpoints with access private",
          hint: "Name the host or address of the tunnel or proxy through which the Talos API is reached.",
        });
  return adminCidrs.length > 0
    ? []
    : error({
        path: path("access"),
        found: `access ${access} without adminCidrs`,
        expected: "adminCidrs: the networks that may reach the Talos API",
        hint: "Add adminCidrs: [203.0.113.7/32] with your own address.",
      });
});

const madeOrGiven = ruleFor("aws", ({ infrastructure: { vpc } }) => {
  if (vpc.id === undefined)
    return (["publicSubnetIds", "privateSubnetIds", "natCidrs"] as const)
      .filter((key) => vpc[key].length > 0)
      .map((key) =>
        error({
          path: path("vpc", key),
          expected: "it together with the id of an existing VPC",
          hint: "Add vpc.id, or remove it: subnets of a VPC that is made are made with it.",
        }),
      );
  return [
    vpc.cidr === undefined
      ? error({ path: path("vpc"), found: "no cidr", expected: "the network of the existing VPC", hint: "Add cidr." })
      : [],
    vpc.natGateways === undefined
      ? []
      : error({
          path: path("vpc", "natGateways"),
          expected: "none with an existing VPC, which has its own way out",
          hint: "Remove it.",
          also: path("vpc", "id"),
        }),
  ];
});

const hasPrivateMachines = ({ infrastructure: { access }, workers }: AwsEnvironment) =>
  access !== "public" || workers.some((pool) => pool.scaling !== undefined);

/** The load balancer lets in only those it knows, and machines in private subnets come to it from their NAT gateway. */
const wayBackIn = ruleFor("aws", (environment) => {
  const { vpc, access, kubernetesApiFromAnywhere } = environment.infrastructure;
  const known = vpc.id === undefined || vpc.natCidrs.length > 0 || kubernetesApiFromAnywhere;
  if (known || access === "private" || !hasPrivateMachines(environment)) return [];
  return error({
    path: path("vpc", "natCidrs"),
    found: "none",
    expected: "the addresses that the VPC's private subnets have on the internet",
    hint: "Add those of its NAT gateways, such as natCidrs: [198.51.100.9/32]. Without, no machine reaches the Kubernetes API.",
    also: path("vpc", "id"),
  });
});

const subnetsGiven = ruleFor("aws", (environment) => {
  const { vpc, access, region, zones } = environment.infrastructure;
  if (vpc.id === undefined) return [];
  const wanted = zoneNames({ region, zones }).length;
  const needed = { publicSubnetIds: access !== "private", privateSubnetIds: hasPrivateMachines(environment) };
  return (["publicSubnetIds", "privateSubnetIds"] as const).map((key) =>
    !needed[key] || vpc[key].length >= wanted
      ? []
      : error({
          path: path("vpc", key),
          found: `${vpc[key].length} of them`,
          expected: `${wanted}, one per zone`,
          hint: "Add subnets, or lower zones.",
        }),
  );
});

const zonesOfTheRegion = ruleFor("aws", ({ infrastructure: { region, zones } }) =>
  (typeof zones === "number" ? [] : zones).flatMap((zone, index, all) =>
    allZones(region).includes(zone) && all.indexOf(zone) === index
      ? []
      : error({
          path: path("zones", index),
          expected: `zones of ${region}, such as ${region}a, each once`,
          hint: "Correct the zone, or the region. Local zones lack what a cluster needs.",
          also: path("region"),
        }),
  ),
);

const poolZonesKnown = ruleFor("aws", (environment) => {
  const { infrastructure } = environment;
  const isCounted = infrastructure.vpc.id !== undefined && typeof infrastructure.zones === "number";
  const zones = zoneNames(infrastructure);
  return poolsOf(environment).map(({ path: at, pool }) => {
    if (pool.zones !== undefined && isCounted)
      return error({
        path: [...at, "zones"],
        expected: "infrastructure.zones with the names of the zones, in the order of the subnets",
        hint: `Add infrastructure.zones: [${zones.join(", ")}], as the subnets of the existing VPC are.`,
        also: path("vpc", "id"),
      });
    return (pool.zones ?? []).map((zone, index, all) =>
      zones.includes(zone) && all.indexOf(zone) === index
        ? []
        : error({
            path: [...at, "zones", index],
            expected: `zones of the infrastructure, each once: ${zones.join(", ")}`,
            hint: "Correct the zone, or add it to infrastructure.zones.",
            also: path("zones"),
          }),
    );
  });
});

const tagsThatAwsTakes = ruleFor("aws", ({ infrastructure: { tags } }) =>
  Object.entries(tags).flatMap(([key, value]) =>
    /^(?!aws:).{1,128}$/i.test(key) && value.length <= 256
      ? []
      : error({
          path: path("tags", key),
          found: `the tag ${key}`,
          expected: "a key of 1 to 128 characters that does not begin with aws:, and a value of up to 256",
          hint: "AWS keeps aws: for itself.",
        }),
  ),
);

const roomForSubnets = ruleFor("aws", ({ infrastructure: { vpc, region, zones } }) => {
  if (vpc.id !== undefined) return [];
  const { prefix } = Cidr.parse(vpc.cidr ?? usualVpc);
  if (prefix >= 16 && prefix <= 22) return [];
  return error({
    path: path("vpc", "cidr"),
    expected: `a network from /16 to /22, which holds subnets for ${zoneNames({ region, zones }).length} zones`,
    hint: "AWS takes /16 to /28; below /22 the subnets are too small for pods and load balancers.",
  });
});

const day = 86_400_000;

/** A bucket that nothing writes to is no backup. */
const bucketIsUsed = ruleFor("aws", (environment) =>
  environment.infrastructure.backups === undefined || ownBucket(environment) !== undefined
    ? []
    : error({
        path: path("backups"),
        found: environment.backup === undefined ? "no section backup" : "another place in the section backup",
        expected: "backups that go into this bucket",
        hint: 'Add backup: { schedule: "0 3 * * *", keep: { age: 30d } } without directory and s3, or remove infrastructure.backups.',
        also: ["backup"],
      }),
);

/** talosmith writes to the bucket itself, and takes on no role for it. */
const bucketIsReached = ruleFor("aws", (environment) =>
  environment.infrastructure.provider.assumeRole === undefined || ownBucket(environment) === undefined
    ? []
    : warning({
        path: path("provider", "assumeRole"),
        found: "a role for Terraform alone",
        expected: "a profile that takes on the role, for backups, too",
        hint: "Set provider.profile, with role_arn in that profile of the AWS configuration, in place of assumeRole. Else the credential chain has to reach the bucket.",
        also: ["backup"],
      }),
);

/** What `keep` keeps must not be deleted by S3. */
const expiryAgrees = ruleFor("aws", ({ infrastructure: { backups }, backup }) => {
  const { expireDays } = backups ?? {};
  const { count, age = 0 } = backup?.keep ?? {};
  if (expireDays === undefined || (count === undefined && age <= expireDays * day)) return [];
  return error({
    path: path("backups", "expireDays"),
    expected:
      count === undefined ? `at least ${Math.ceil(age / day)} days, as backup.keep.age` : "none with backup.keep.count",
    hint: "S3 would delete backups that backup.keep keeps. Correct one of the two, or remove expireDays.",
    also: ["backup", "keep"],
  });
});

/** Ports that only machines, the load balancer and administrators may reach. */
const guarded = [2379, 2380, 6443, 10250, 50000, 50001];

const ownRules = ruleFor("aws", ({ infrastructure: { securityGroupRules } }) =>
  (["ingress", "egress"] as const).map((way) =>
    securityGroupRules[way].map(({ protocol, ports, cidrs }, index) => {
      const at = path("securityGroupRules", way, index);
      const needsPorts = protocol === "tcp" || protocol === "udp";
      if (needsPorts !== (ports !== undefined))
        return error({
          path: at,
          found: `protocol ${protocol} ${ports === undefined ? "without" : "with"} ports`,
          expected: "ports with tcp and udp, and with no other protocol",
          hint: "Add or remove ports, such as ports: 30000-32767.",
        });
      const [from = 0, to = from] = String(ports ?? "0-65535")
        .split("-")
        .map(Number);
      const opens = way === "ingress" && protocol !== "udp" && protocol !== "icmp" && cidrs.some(isWide);
      const exposed = opens ? guarded.filter((port) => from <= port && port <= to) : [];
      if (exposed.length > 0)
        return error({
          path: [...at, "cidrs"],
          found: `${cidrs.join(", ")} for port ${exposed.join(", ")}`,
          expected: "networks of /8 or smaller for the ports of Talos and Kubernetes",
          hint: "Leave these ports out of the range, or name your own networks.",
        });
      return [];
    }),
  ),
);

const isWide = (text: string) => (Cidr.tryParse(text)?.prefix ?? 32) < 8;

const oneProfile = ruleFor("aws", ({ infrastructure: { iam } }) =>
  (["controlPlane", "worker"] as const).map((role) =>
    iam[role].instanceProfile === undefined || iam[role].policyArns.length === 0
      ? []
      : error({
          path: path("iam", role, "policyArns"),
          expected: "none with an instanceProfile, whose role is yours",
          hint: "Attach the policies to that role, or remove instanceProfile.",
          also: path("iam", role, "instanceProfile"),
        }),
  ),
);

const nameIsFound = ruleFor("aws", ({ infrastructure: { dns, access } }) =>
  dns?.private !== true || access === "private"
    ? []
    : warning({
        path: path("dns", "private"),
        found: `a name that only the VPC knows, with access ${access}`,
        expected: "access private, or a public zone",
        hint: "Who administers the cluster from outside has to resolve names of the VPC, such as by a VPN.",
      }),
);

const scalingInOrder = ruleFor("aws", ({ workers }) =>
  workers.flatMap(({ scaling, count }, index) =>
    scaling === undefined || (scaling.min <= count && count <= scaling.max)
      ? []
      : error({
          path: ["workers", index, "scaling"],
          found: `min ${scaling.min}, count ${count}, max ${scaling.max}`,
          expected: "min ≤ count ≤ max",
          hint: "Correct the three numbers.",
        }),
  ),
);

/** Without the provider ids that the controller gives their nodes, it takes machines for ones that never joined. */
const autoscalerKnowsNodes = ruleFor("aws", ({ infrastructure: { clusterAutoscaler, cloudControllerManager } }) =>
  !clusterAutoscaler || cloudControllerManager
    ? []
    : error({
        path: path("clusterAutoscaler"),
        found: "clusterAutoscaler without cloudControllerManager",
        expected: "both, because the autoscaler finds nodes by the ids that the controller gives them",
        hint: "Add cloudControllerManager: true. Without node ids the autoscaler terminates machines 15 minutes after they have joined.",
      }),
);

const architectureFits = ruleFor("aws", (environment) => {
  const { architecture } = environment.infrastructure;
  // Families with a g after the generation (t4g, m7gd, …) are Graviton; a1 and im4gn follow older names.
  const isArm = (type: string) => /^(a1|[a-z]+\d+g[a-z]*)\./.test(type);
  const wanted = (pool: { readonly architecture?: string | undefined }) => pool.architecture ?? architecture;
  return poolsOf(environment).map(({ path: at, pool }) =>
    pool.instanceType === undefined || isArm(pool.instanceType) === (wanted(pool) === "arm64")
      ? []
      : error({
          path: [...at, "instanceType"],
          expected: `an instance type of the architecture ${wanted(pool)}`,
          hint: "Change the type, or architecture, of this pool or of the infrastructure.",
          also: pool.architecture === undefined ? path("architecture") : [...at, "architecture"],
        }),
  );
});

const enoughDisk = ruleFor("aws", (environment) =>
  poolsOf(environment).map(({ path: at, pool: { disk } }) =>
    disk >= minimumHardware.worker.disk
      ? []
      : warning({
          path: [...at, "disk"],
          found: formatSize(disk),
          expected: `at least ${formatSize(minimumHardware.worker.disk)}, Talos's minimum`,
          hint: "Give it more.",
        }),
  ),
);

/** Pods on control planes can take on their role, which then makes and attaches volumes. */
const rolesOfControlPlanes = ruleFor("aws", ({ infrastructure: { ebsCsi }, controlPlane, workers, cluster }) => {
  const machines = workers.reduce((sum, { count }) => sum + count, 0);
  const isOpen = ebsCsi && (controlPlane?.metadataHopLimit ?? 2) > 1;
  if (!isOpen || !schedulesOnControlPlanes(cluster.allowSchedulingOnControlPlanes, machines)) return [];
  return warning({
    path: path("ebsCsi"),
    found: "ebsCsi with control planes that run ordinary pods",
    expected: "workers for ordinary pods",
    hint: "Any pod on a control plane can use its IAM role. Add workers, or set allowSchedulingOnControlPlanes to false.",
  });
});

const imageHasExtensions = ruleFor("aws", ({ cluster: { schematic }, infrastructure: { ami } }) => {
  const wanted = (schematic?.extensions.length ?? 0) + (schematic?.kernelArgs.length ?? 0);
  if (wanted === 0 || ami !== undefined) return [];
  return warning({
    path: ["cluster", "schematic"],
    found: "a schematic with Sidero Labs' own image, which has nothing added",
    expected: "an ami that was made from this schematic",
    hint: "Import the image factory's aws image and name its ami. Else the additions come with the first upgrade only.",
  });
});

const ownControlPlane = ruleFor("aws", ({ joins }) =>
  joins === undefined
    ? []
    : error({
        path: ["controlPlaneRef"],
        found: `workers on AWS that join the control plane of ${joins.name}`,
        expected: "a control plane of its own for an environment on AWS",
        hint: `Add these workers as a pool to ${joins.file}: the network and security groups that let them in are made there.`,
      }),
);

const stateIsShared = ruleFor("aws", ({ backend, infrastructure: { access } }) => {
  if (backend.kind !== "local") return [];
  const also = access === "public" ? "" : " Here it also has the machines' first configs, which hold secrets.";
  return warning({
    path: ["backend"],
    found: "the state in a file on this computer",
    expected: "a backend that colleagues and CI share, and that is locked and encrypted",
    hint: `Add backend: { kind: s3, bucket: …, region: … }. Who loses the file loses hold of what runs in AWS.${also}`,
  });
});

/** Those that need to know nothing but the infrastructure. */
export const awsInfrastructureRules = {
  notTheWorld,
  someoneMayEnter,
  madeOrGiven,
  zonesOfTheRegion,
  tagsThatAwsTakes,
  roomForSubnets,
  ownRules,
  oneProfile,
  autoscalerKnowsNodes,
} as const satisfies Rules;

export const awsRules = {
  ...awsInfrastructureRules,
  ownControlPlane,
  stateIsShared,
  subnetsGiven,
  poolZonesKnown,
  bucketIsUsed,
  expiryAgrees,
  bucketIsReached,
  nameIsFound,
  wayBackIn,
  scalingInOrder,
  architectureFits,
  enoughDisk,
  rolesOfControlPlanes,
  imageHasExtensions,
} as const satisfies Rules;
