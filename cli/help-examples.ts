// SPDX-License-Identifier: Apache-2.0
import type { Command } from "commander";

/** A command line without the program's name, and what it is for. */
type Example = readonly [line: string, purpose: string];

/** Two or more for every command, by its path. */
const examples: Readonly<Record<string, readonly Example[]>> = {
  init: [
    ["init", "a project here, with environments/local.yaml"],
    ["init lab --kind libvirt --vip 10.0.0.100 --control-planes 3", "another environment, without questions"],
  ],
  adopt: [
    ["adopt lab --talosctl ./clusterconfig", "what talosctl gen config wrote; nothing is changed"],
    ["adopt lab --terraform-state state.json --dry-run", "print the environment's file only"],
  ],
  deploy: [
    ["deploy local", "show the plan, ask, then do it"],
    ["deploy production --yes", "in CI, after the plan was reviewed"],
  ],
  plan: [
    ["plan staging", "exit code 2 when there is something to change"],
    ["plan rack --no-kubernetes", "only Talos and etcd"],
  ],
  destroy: [
    ["destroy local", "take it down"],
    ["destroy sandbox --yes", "without a question"],
  ],
  review: [
    ["review plan.json", "markdown for a pull request"],
    ["review - --fail-on danger", "from standard input; exit code 2 when there is danger"],
    ["review sandbox", "what a first apply makes, without terraform and without credentials"],
  ],
  operate: [
    ["operate", "watch every environment, report what differs, take scheduled backups"],
    ["operate production --repair --listen :9180", "and repair it; metrics for everybody in the network"],
  ],
  "rotate-ca": [
    ["rotate-ca production", "show the steps, change nothing"],
    ["rotate-ca production --dry-run=false --kubernetes=false", "exchange the CA of the Talos API"],
  ],
  synth: [
    ["synth", "every environment, to cdktf.out/stacks"],
    ["synth lab --hcl --check", "fail when terraform/lab is stale"],
  ],
  up: [
    ["up local", "without Terraform"],
    ["up rack --json", "progress as NDJSON"],
  ],
  down: [
    ["down local", "take it down"],
    ["down rack --yes --json", "without a question, for programs"],
  ],
  upgrade: [
    ["upgrade talos lab --to v1.13.9 --dry-run", "show the steps and change nothing"],
    ["upgrade k8s lab --to 1.36.3", "one component after another"],
  ],
  "upgrade talos": [
    ["upgrade talos lab --to v1.13.9 --dry-run", "show the steps and change nothing"],
    ["upgrade talos production --to v1.13.9 --write-only", "change the file, and leave the rest to a deploy"],
  ],
  "upgrade k8s": [
    ["upgrade k8s lab --to 1.36.3 --dry-run", "show the steps and change nothing"],
    ["upgrade k8s lab --to 1.36.3 --yes", "do it without a question"],
  ],
  "upgrade-k8s": [
    ["upgrade-k8s lab --to 1.36.3 --dry-run", "show the steps and change nothing"],
    ["upgrade-k8s lab --to 1.36.3", "as talosctl calls it"],
  ],
  status: [
    ["status lab", "a row per machine, and what is left to do"],
    ["status lab --json", "for programs"],
  ],
  doctor: [
    ["doctor", "programs, and every environment"],
    ["doctor production --json", "one environment, for programs"],
  ],
  health: [
    ["health lab", "wait up to 20 minutes for all checks"],
    ["health lab --wait-timeout 0", "look once"],
  ],
  topology: [
    ["topology lab", "SVG from the file alone"],
    ["topology lab --format mermaid --live", "with the machines' present state"],
  ],
  dashboard: [
    ["dashboard lab", "live, until q"],
    ["dashboard lab --interval 10s", "look less often"],
  ],
  ui: [
    ["ui", "on a free port of this computer"],
    ["ui --port 8080 --read-only", "on a known port, changing nothing"],
  ],
  unlock: [
    ["unlock lab", "show who holds the lock, then ask"],
    ["unlock lab --yes", "in a script that knows the holder is dead"],
  ],
  support: [
    ["support lab", "write support-lab.zip"],
    ["support lab --output /tmp/lab.zip --force", "to another place, over an old one"],
  ],
  kubeconfig: [
    ["kubeconfig lab", "to generated/lab/kubeconfig"],
    ["kubeconfig lab -", "to standard output"],
  ],
  talosconfig: [
    ["talosconfig lab", "to generated/lab/talosconfig"],
    ["talosconfig lab reader.yaml --roles os:reader --crt-ttl 24h", "for somebody who may only look"],
  ],
  addon: [
    ["addon list lab", "what the file asks for and what the cluster has"],
    ["addon apply lab", "install and upgrade all, in their order"],
  ],
  "addon list": [
    ["addon list lab", "what the file asks for and what the cluster has"],
    ["addon list lab --json", "for programs"],
  ],
  "addon apply": [
    ["addon apply lab", "all, in their order"],
    ["addon apply lab metrics-server", "one"],
  ],
  "addon rollback": [
    ["addon rollback lab app", "to the revision before"],
    ["addon rollback lab app 3", "to a revision of helm history"],
  ],
  backup: [
    ["backup create lab", "take one now"],
    ["backup list lab", "oldest first"],
  ],
  "backup create": [
    ["backup create lab", "take one now"],
    ["backup create lab --json", "for programs"],
  ],
  "backup list": [
    ["backup list lab", "oldest first"],
    ["backup list lab --json", "for programs"],
  ],
  "backup verify": [
    ["backup verify lab", "the newest, from end to end"],
    ["backup verify lab --all", "every one"],
  ],
  "backup prune": [
    ["backup prune lab --dry-run", "only tell what would go"],
    ["backup prune lab", "remove what no rule keeps"],
  ],
  "backup drill": [
    ["backup drill lab", "rehearse a restore of the newest"],
    ["backup drill lab latest --json", "for programs"],
  ],
  "backup run": [
    ["backup run lab", "stay, and take backups by the schedule"],
    ["backup run production", "one process per environment"],
  ],
  restore: [
    ["restore lab --from latest", "the newest backup"],
    ["restore lab --from s3://example-backups/lab/a.snapshot --yes", "one object, without a question"],
  ],
  apply: [
    ["apply -n 10.0.0.70 -f controlplane.yaml --insecure", "the first config, in maintenance mode"],
    ["apply -n 10.0.0.70 -f controlplane.yaml --dry-run", "only tell what would change"],
  ],
  bootstrap: [
    ["bootstrap -n 10.0.0.70", "once in a cluster's life, on one control plane"],
    ["bootstrap -n 10.0.0.70 --talosconfig generated/lab/talosconfig", "with this talosconfig"],
  ],
  reboot: [
    ["reboot -n 10.0.0.80", "one machine"],
    ["reboot -n 10.0.0.80,10.0.0.81", "one after another"],
  ],
  reset: [
    ["reset -n 10.0.0.80", "drain, leave the cluster, wipe, power off"],
    ["reset -n 10.0.0.71 --reboot --system-labels-to-wipe EPHEMERAL", "only this partition"],
  ],
  get: [
    ["get members -n 10.0.0.70", "who is in the cluster"],
    ["get machinestatus -n 10.0.0.70 -o yaml --watch", "every change of its stage"],
  ],
  gen: [
    ["gen secrets -o secrets/lab.yaml", "the secrets of a new cluster"],
    ["gen config demo https://10.0.0.10:6443", "controlplane.yaml, worker.yaml, talosconfig"],
  ],
  "gen secrets": [
    ["gen secrets -o secrets/lab.yaml", "plain, mode 0600"],
    ["gen secrets --from-controlplane-config controlplane.yaml", "those of a cluster that exists"],
  ],
  "gen config": [
    ["gen config demo https://10.0.0.10:6443", "controlplane.yaml, worker.yaml, talosconfig"],
    ["gen config demo https://10.0.0.10:6443 --with-secrets secrets.yaml -t worker -o -", "one, to standard output"],
  ],
  "gen talosconfig": [
    ["gen talosconfig demo --with-secrets secrets.yaml -e 10.0.0.70", "for an administrator, a year"],
    ["gen talosconfig demo --with-secrets secrets.yaml --roles os:reader --crt-ttl 24h", "to look, for a day"],
  ],
  config: [
    ["config patch controlplane.yaml --patch @patch.yaml", "a machine config"],
    ["config contexts", "of the talosconfig"],
  ],
  "config patch": [
    ["config patch controlplane.yaml --patch @patch.yaml", "print the result"],
    ["config patch worker.yaml -p @a.yaml -p @b.yaml -o worker.yaml", "two patches, in place"],
  ],
  "config validate": [
    ["config validate -c controlplane.yaml -m metal", "as Talos does"],
    ["config validate -c worker.yaml -m cloud --strict", "warnings are errors"],
  ],
  "config diff": [
    ["config diff old.yaml new.yaml", "by meaning, secrets hidden"],
    ["config diff old.yaml new.yaml --detailed-exitcode", "exit code 2 when they differ"],
  ],
  "config redact": [
    ["config redact controlplane.yaml", "every secret replaced"],
    ["config redact controlplane.yaml --json", "for programs"],
  ],
  "config add": [
    ["config add demo --ca ca.crt --crt admin.crt --key admin.key", "with a certificate"],
    ["config add empty", "a name alone"],
  ],
  "config context": [
    ["config context demo", "use it from now on"],
    ["config context demo --talosconfig ./talosconfig", "in this file"],
  ],
  "config contexts": [
    ["config contexts", "a table"],
    ["config contexts --json", "for programs"],
  ],
  "config endpoint": [
    ["config endpoint 10.0.0.70 10.0.0.71", "control planes to connect to"],
    ["config endpoint 10.0.0.70 --context demo", "of another context"],
  ],
  "config node": [
    ["config node 10.0.0.80 10.0.0.81", "machines that commands are for"],
    ["config node", "none"],
  ],
  "config info": [
    ["config info", "whom the certificate is for, and until when"],
    ["config info -o yaml", "as YAML"],
  ],
  "config merge": [
    ["config merge generated/lab/talosconfig", "into the one that talosctl finds"],
    ["config merge other.yaml --talosconfig mine.yaml", "into this file"],
  ],
  "config new": [
    ["config new reader.yaml --roles os:reader -n 10.0.0.70", "ask a control plane for a certificate"],
    ["config new backup.yaml --roles os:etcd:backup --crt-ttl 24h -n 10.0.0.70", "for a day"],
  ],
  "config remove": [
    ["config remove demo --dry-run", "only tell"],
    ["config remove 'old-*' --noconfirm", "several, without a question"],
  ],
  machineconfig: [
    ["machineconfig patch controlplane.yaml --patch @patch.yaml", "as config patch"],
    ["machineconfig gen demo https://10.0.0.10:6443", "as gen config"],
  ],
  "machineconfig patch": [
    ["machineconfig patch controlplane.yaml --patch @patch.yaml", "print the result"],
    ["machineconfig patch worker.yaml -p @a.yaml -o worker.yaml", "in place"],
  ],
  "machineconfig gen": [
    ["machineconfig gen demo https://10.0.0.10:6443", "controlplane.yaml, worker.yaml, talosconfig"],
    ["machineconfig gen demo https://10.0.0.10:6443 -t controlplane -o -", "one, to standard output"],
  ],
  validate: [
    ["validate -c controlplane.yaml -m metal", "as Talos does"],
    ["validate -c worker.yaml -m cloud --strict", "warnings are errors"],
  ],
  image: [
    ["image schematic --extension siderolabs/iscsi-tools", "the id of a schematic"],
    ["image default", "the images that a cluster pulls"],
  ],
  "image schematic": [
    ["image schematic --extension siderolabs/iscsi-tools", "from flags, offline"],
    ["image schematic schematic.yaml --register", "make it known to the factory"],
  ],
  "image installer": [
    ["image installer --talos-version v1.13.9", "of the plain image"],
    ["image installer --extension siderolabs/iscsi-tools --platform nocloud", "with an extension"],
  ],
  "image url": [
    ["image url iso", "to boot a machine from"],
    ["image url qcow2 --platform nocloud --arch arm64", "a disk for virtual machines"],
  ],
  "image fetch": [
    ["image fetch", "a disk image, unpacked"],
    ["image fetch iso --talos-version v1.13.9", "an ISO"],
  ],
  "image default": [
    ["image default", "of the newest release known here"],
    ["image default --talos-version v1.12.11 --json", "of another, for programs"],
  ],
  provider: [
    ["provider install", "for terraform and tofu in any directory"],
    ["provider install --dir ./plugins", "into a folder of your own"],
  ],
  "provider install": [
    ["provider install", "for terraform and tofu in any directory"],
    ["provider install --dir ./plugins", "into a folder of your own"],
  ],
  sim: [
    ["sim list", "every simulated machine"],
    ["sim power local-w-1 off", "cut the power of one"],
  ],
  "sim list": [
    ["sim list", "a table"],
    ["sim list --json", "for programs"],
  ],
  "sim up": [
    ["sim up", "start the simulator again"],
    ["sim up && talosmith sim list", "and see what is there"],
  ],
  "sim down": [
    ["sim down", "end it; machines stay on disk"],
    ["sim down --all", "and remove every machine"],
  ],
  "sim power": [
    ["sim power local-w-1 off", "cut it"],
    ["sim power local-w-1 on", "restore it"],
  ],
  "sim fault": [
    ["sim fault local-cp-1 refuse", "refuse connections"],
    ["sim fault local-cp-1", "clear its faults"],
  ],
  completion: [
    ["completion bash > ~/.local/share/bash-completion/completions/talosmith", "for every new bash"],
    ["completion fish > ~/.config/fish/completions/talosmith.fish", "for every new fish"],
  ],
};

/** The first words of all that can be typed after our name. */
export function exampleCommands(): readonly string[] {
  return [...new Set(Object.keys(examples).map((path) => path.split(" ", 1)[0] ?? ""))];
}

/** Puts the examples of each command below its help. */
export function addHelpExamples(command: Command, path: readonly string[] = []): void {
  const own = examples[path.join(" ")];
  if (own !== undefined) command.addHelpText("after", `\nExamples:\n${own.map(exampleLines).join("\n")}`);
  for (const child of command.commands) addHelpExamples(child, [...path, child.name()]);
}

const exampleLines = ([line, purpose]: Example) => `  # ${purpose}\n  talosmith ${line}`;
