// SPDX-License-Identifier: Apache-2.0
import { checkKey, loadCertificate } from "../../pki/index.ts";
import { parseGoDuration } from "../document/go-duration.ts";
import { listAt, type Section, sectionAt, sectionsAt, textAt, valueAt } from "../document/value.ts";
import type { ConfigRules } from "../rules.ts";
import { urlParts } from "./addresses.ts";
import { pairFault } from "./certificates.ts";
import { expressionFault, selectorFaults } from "./expressions.ts";
import { about, at, type Checks, type Findings, quoted, requires, unset } from "./findings.ts";
import { nameFaults } from "./labels.ts";

/** Documents of registries, extensions, logging, discovery, images and the system. */
export const systemChecks: Checks = {
  *CRICustomizationConfig(document) {
    const name = textAt(document, "name");
    for (const fault of nameFaults(name)) yield { error: `invalid name: ${fault}`, path: "name" };
    if (name === "customization") {
      const error = `name ${quoted(name)} is reserved for the legacy CRI customization`;
      yield { error, path: "name" };
    }
  },
  *RegistryAuthConfig(document) {
    yield* unset(document, { name: "name must be specified" });
    const [user, token, auth] = ["username", "identityToken", "auth"].map((key) => textAt(document, key) !== "");
    if (user && token) yield "only one of username/password or identityToken authentication can be specified";
    if (auth && (user || token))
      yield "only one of auth, username/password or identityToken authentication can be specified";
  },
  *RegistryMirrorConfig(document) {
    yield* unset(document, { name: "name must be specified" });
    for (const [index, endpoint] of sectionsAt(document, "endpoints").entries()) {
      const url = textAt(endpoint, "url");
      const { scheme } = urlParts(url);
      if (url === "") yield `endpoints[${index}].url must be specified`;
      else if (scheme !== "http" && scheme !== "https")
        yield `endpoints[${index}].url has unsupported scheme: ${quoted(scheme)}`;
    }
  },
  *RegistryTLSConfig(document, rules) {
    yield* unset(document, { name: "name must be specified" });
    const ca = textAt(document, "ca");
    if (ca !== "" && failure(() => loadCertificate(ca)) !== undefined)
      yield "ca must be a valid PEM-encoded certificate";
    const identity = sectionAt(document, "clientIdentity");
    if (identity === undefined) return;
    if (!rules.loadsClientIdentity) {
      yield* at("clientIdentity", about("client identity", pairFault(identity, { loaded: false })));
      return;
    }
    const certificate = failure(() => loadCertificate(textAt(identity, "cert")));
    yield* about("client identity certificate is invalid", certificate);
    yield* about(
      "client identity key is invalid",
      failure(() => checkKey(textAt(identity, "key"), "key")),
    );
  },
  *EnvironmentConfig(document) {
    for (const name of sectionAt(document, "variables")?.keys() ?? [])
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) yield `invalid environment variable name: ${quoted(name)}`;
  },
  *EtcFileConfig(document) {
    const path = textAt(document, "name");
    const file = `user etc file ${quoted(path)}`;
    if (path === "") yield "user etc file name cannot be empty";
    else if (path.startsWith("/") || path.startsWith(".") || path.split("/").includes(".."))
      yield `${file} must be a local path`;
    else if (managedFiles.includes(path) || managedFolders.includes(path.split("/")[0] ?? ""))
      yield `${file} is managed by Talos`;
  },
  *EventSinkConfig(document) {
    const endpoint = textAt(document, "endpoint");
    if (/^(?:[^:]*|\[.*\]):[^:]*$/.test(endpoint)) return;
    const address = endpoint === "" ? "" : `address ${endpoint}: `;
    const reason = endpoint.includes(":") ? "too many colons in address" : "missing port in address";
    yield `event sink endpoint: ${address}${reason}`;
  },
  ExtensionServiceConfig: (document) => [...extensionFindings(document)].slice(0, 1),
  KernelModuleConfig: requires({ name: "name is required" }),
  *KmsgLogConfig(document) {
    const url = textAt(document, "url");
    const { scheme, port, path } = urlParts(url);
    if (textAt(document, "name") === "") yield "name is required";
    else if (url === "") yield "url is required";
    else if (scheme !== "tcp" && scheme !== "udp") yield "url scheme must be tcp:// or udp://";
    else if (path !== "" && path !== "/") yield "url path must be empty";
    else if (port === "") yield "url port is required";
  },
  *OOMConfig(document) {
    for (const [key, title, vocabulary] of [
      ["triggerExpression", "OOM trigger expression", "oomTrigger"],
      ["cgroupRankingExpression", "OOM cgroup scoring expression", "oomScore"],
    ] as const) {
      const text = textAt(document, key);
      if (text !== "") yield* about(`${title} is invalid`, expressionFault(text, vocabulary));
    }
    if (textAt(document, "sampleInterval").startsWith("-")) yield "OOM sample interval must be longer than 0";
  },
  *SysctlConfig(document) {
    if (sectionAt(document, "params")?.has("")) yield "sysctl key cannot be empty";
  },
  *SysfsConfig(document) {
    if (sectionAt(document, "params")?.has("")) yield "sysfs key cannot be empty";
  },
  *UnattendedInstallConfig(document) {
    if (textAt(document, "installer.image") === "") {
      const reason = "if Talos is not booted from asset built by Image Factory, installation will fail";
      yield { warning: `installer.image is not set, ${reason}` };
    }
    const path = "provisioning.diskSelector.match";
    yield* at(path, selectorFaults(textAt(document, path), "disk", path, path));
  },
  *WatchdogTimerConfig(document) {
    const timeout = parseGoDuration(textAt(document, "timeout")) ?? 0n;
    if (textAt(document, "device") === "") yield "watchdog device: empty value";
    else if (timeout !== 0n && timeout < 10_000_000_000n) yield "watchdog timeout: minimum value is 10s";
  },
  *ImageVerificationConfig(document, rules) {
    for (const [index, rule] of sectionsAt(document, "rules").entries())
      yield* imageRuleFindings(rule, `rule ${index}:`, rules);
  },
  *SideroLinkConfig(document) {
    const url = textAt(document, "apiUrl");
    const { scheme, path } = urlParts(url);
    if (url === "") yield "apiUrl is required";
    else if (scheme !== "https" && scheme !== "grpc") yield "apiUrl scheme must be https:// or grpc://";
    else if (path !== "" && path !== "/") yield "apiUrl path must be empty";
  },
  *DiscoveryIdentityConfig(document) {
    const secret = textAt(document, "clusterSecret");
    const { length } = Buffer.from(secret, "base64");
    if (textAt(document, "clusterID") === "") yield "clusterID is required";
    else if (secret === "") yield "clusterSecret is required";
    else if (secret.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(secret))
      yield "invalid clusterSecret: failed to decode from base64";
    // Talos repeats the secret here; we do not.
    else if (length !== 32) yield `invalid clusterSecret: expected 32 bytes, got ${length}`;
  },
  *DiscoveryServiceConfig(document) {
    const endpoint = textAt(document, "endpoint");
    const { scheme, host } = urlParts(endpoint);
    if (textAt(document, "name") === "") yield "name is required";
    else if (endpoint === "") yield "endpoint is required";
    else if (scheme === "") yield "endpoint scheme is required";
    else if (!["http", "https", "grpc"].includes(scheme)) yield "endpoint scheme must be http://, https:// or grpc://";
    else if (host === "") yield "endpoint host is required";
  },
};

const managedFiles = ["resolv.conf", "hosts", "machine-id", "extensions.yaml", "localtime", "os-release", "xattr.conf"];
const managedFolders = "apparmor.d apparmor ca-certificates cni cri iscsi kubernetes lvm nvme pki selinux ssl".split(
  " ",
);

function* extensionFindings(document: Section): Findings {
  const name = textAt(document, "name");
  const files = sectionsAt(document, "configFiles");
  if (name === "") yield "name is required";
  if (files.length === 0 && listAt(document, "environment").length === 0)
    yield `no config files found for extension ${quoted(name)}`;
  const required = (what: string) => `extension ${what} is required for extension ${quoted(name)}`;
  for (const file of files) yield* unset(file, { content: required("content"), mountPath: required("mount path") });
}

function* imageRuleFindings(rule: Section, at: string, rules: ConfigRules): Findings {
  const pattern = textAt(rule, "image");
  const only = "but matching only applies to the image registry and repository, not the tag or digest";
  if (pattern === "") yield `${at} imagePattern must be specified`;
  if (pattern.includes("@")) yield { warning: `${at} imagePattern contains '@' ${only}` };
  if (pattern.slice(pattern.indexOf("/") + 1).includes(":") && pattern.includes("/"))
    yield { warning: `${at} imagePattern contains ':' ${only}` };
  if (rules.matchesWholeReferences) {
    const form = "references are matched in their normalized '<registry domain>/<repository>' form";
    const example = "e.g. 'nginx' is matched as 'docker.io/library/nginx'";
    if (pattern !== "" && matchesNoImage(pattern))
      yield { warning: `${at} imagePattern ${quoted(pattern)} cannot match any image: ${form}, ${example}` };
  } else if (!pattern.includes("/") && pattern !== "*" && pattern !== "") {
    const example = "image references like 'nginx' are matched as 'docker.io/nginx' (normalized)";
    yield { warning: `${at} imagePattern does not contain a '/', ${example}` };
  }
  const [skip, deny] = [valueAt(rule, "skip") === true, valueAt(rule, "deny") === true];
  const [keyless, publicKey] = [sectionAt(rule, "keyless"), sectionAt(rule, "publicKey")];
  const verified = keyless !== undefined || publicKey !== undefined;
  if (skip && deny) yield `${at} skip and deny cannot both be true`;
  if ((skip || deny) && verified) yield `${at} verifiers cannot be configured if skip or deny is true`;
  if (!skip && !deny && !verified) yield `${at} at least one verifier must be configured`;
  if (keyless && publicKey) yield `${at} only one of keyless or publicKey verifier can be configured`;
  if (keyless && textAt(keyless, "issuer") === "") yield `${at} verifier OIDC issuer must be specified`;
  if (keyless && textAt(keyless, "subject") === "" && textAt(keyless, "subjectRegex") === "")
    yield `${at} verifier subject or subjectRegex must be specified`;
  if (publicKey && textAt(publicKey, "certificate") === "") yield `${at} verifier certificates must be specified`;
}

/** Whether what stands before the first `*` reaches past the registry without being one, or is no reference at all. */
function matchesNoImage(pattern: string): boolean {
  const [prefix = ""] = pattern.split("*");
  if (!prefix.includes("/")) return !pattern.includes("*");
  const [domain = ""] = prefix.split("/");
  return !/[.:]/.test(domain) && domain.toLowerCase() !== "localhost";
}

function failure(step: () => unknown): string | undefined {
  try {
    step();
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return message.replace(/^.*: (?=failed to parse PEM block$)/, "");
  }
}
