// SPDX-License-Identifier: Apache-2.0
import { checkKey, loadCertificate } from "../../pki/index.ts";
import { parseGoDuration } from "../document/go-duration.ts";
import { listAt, type Section, sectionAt, sectionsAt, textAt, valueAt } from "../document/value.ts";
import { urlParts } from "./addresses.ts";
import type { Checks } from "./documents.ts";
import { expressionFault } from "./expressions.ts";
import { type Findings, quoted } from "./findings.ts";

/** Documents of registries, extensions, logging, discovery, images and the system. */
export const systemChecks: Checks = {
  RegistryAuthConfig: (document, { errors }) => {
    if (textAt(document, "name") === "") errors.push("name must be specified");
    const [user, token, auth] = ["username", "identityToken", "auth"].map((key) => textAt(document, key) !== "");
    if (user && token) errors.push("only one of username/password or identityToken authentication can be specified");
    if (auth && (user || token)) {
      errors.push("only one of auth, username/password or identityToken authentication can be specified");
    }
  },
  RegistryMirrorConfig: (document, { errors }) => {
    if (textAt(document, "name") === "") errors.push("name must be specified");
    sectionsAt(document, "endpoints").forEach((endpoint, index) => {
      const url = textAt(endpoint, "url");
      const { scheme } = urlParts(url);
      if (url === "") errors.push(`endpoints[${index}].url must be specified`);
      else if (scheme !== "http" && scheme !== "https") {
        errors.push(`endpoints[${index}].url has unsupported scheme: ${quoted(scheme)}`);
      }
    });
  },
  RegistryTLSConfig: (document, { errors }) => {
    if (textAt(document, "name") === "") errors.push("name must be specified");
    const ca = textAt(document, "ca");
    if (ca !== "" && failure(() => loadCertificate(ca)) !== undefined) {
      errors.push("ca must be a valid PEM-encoded certificate");
    }
    const identity = sectionAt(document, "clientIdentity");
    if (identity === undefined) return;
    const certificate = failure(() => loadCertificate(textAt(identity, "cert")));
    if (certificate !== undefined) errors.push(`client identity certificate is invalid: ${certificate}`);
    const key = failure(() => checkKey(textAt(identity, "key"), "key"));
    if (key !== undefined) errors.push(`client identity key is invalid: ${key}`);
  },
  EnvironmentConfig: (document, { errors }) => {
    for (const name of sectionAt(document, "variables")?.keys() ?? []) {
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) errors.push(`invalid environment variable name: ${quoted(name)}`);
    }
  },
  EventSinkConfig: (document, { errors }) => {
    const endpoint = textAt(document, "endpoint");
    if (!/^(?:[^:]*|\[.*\]):[^:]*$/.test(endpoint)) {
      const address = endpoint === "" ? "" : `address ${endpoint}: `;
      const reason = endpoint.includes(":") ? "too many colons in address" : "missing port in address";
      errors.push(`event sink endpoint: ${address}${reason}`);
    }
  },
  ExtensionServiceConfig: (document, { errors }) => errors.push(...extensionFaults(document).slice(0, 1)),
  KmsgLogConfig: (document, { errors }) => {
    if (textAt(document, "name") === "") errors.push("name is required");
    else errors.push(...logUrlFaults(textAt(document, "url")).slice(0, 1));
  },
  OOMConfig: (document, { errors }) => {
    const expressions = [
      ["triggerExpression", "OOM trigger expression", "oomTrigger"],
      ["cgroupRankingExpression", "OOM cgroup scoring expression", "oomScore"],
    ] as const;
    for (const [key, title, about] of expressions) {
      const text = textAt(document, key);
      const fault = text === "" ? undefined : expressionFault(text, about);
      if (fault !== undefined) errors.push(`${title} is invalid: ${fault}`);
    }
    if (textAt(document, "sampleInterval").startsWith("-")) errors.push("OOM sample interval must be longer than 0");
  },
  WatchdogTimerConfig: (document, { errors }) => {
    const timeout = parseGoDuration(textAt(document, "timeout"));
    if (textAt(document, "device") === "") errors.push("watchdog device: empty value");
    else if (timeout !== undefined && timeout !== 0n && timeout < 10_000_000_000n) {
      errors.push("watchdog timeout: minimum value is 10s");
    }
  },
  ImageVerificationConfig: (document, findings) => {
    for (const [index, rule] of sectionsAt(document, "rules").entries()) checkImageRule(rule, index, findings);
  },
  SideroLinkConfig: (document, { errors }) => {
    const url = textAt(document, "apiUrl");
    const { scheme, path } = urlParts(url);
    if (url === "") errors.push("apiUrl is required");
    else if (scheme !== "https" && scheme !== "grpc") errors.push("apiUrl scheme must be https:// or grpc://");
    else if (path !== "" && path !== "/") errors.push("apiUrl path must be empty");
  },
  DiscoveryIdentityConfig: (document, { errors }) => {
    const secret = textAt(document, "clusterSecret");
    if (textAt(document, "clusterID") === "") errors.push("clusterID is required");
    else if (secret === "") errors.push("clusterSecret is required");
    else if (!isBase64(secret)) errors.push("invalid clusterSecret: failed to decode from base64");
    else if (Buffer.from(secret, "base64").length !== 32) {
      // Talos repeats the secret here; we do not.
      errors.push(`invalid clusterSecret: expected 32 bytes, got ${Buffer.from(secret, "base64").length}`);
    }
  },
  DiscoveryServiceConfig: (document, { errors }) => {
    const endpoint = textAt(document, "endpoint");
    const { scheme, host } = urlParts(endpoint);
    if (textAt(document, "name") === "") errors.push("name is required");
    else if (endpoint === "") errors.push("endpoint is required");
    else if (scheme === "") errors.push("endpoint scheme is required");
    else if (!["http", "https", "grpc"].includes(scheme)) {
      errors.push("endpoint scheme must be http://, https:// or grpc://");
    } else if (host === "") errors.push("endpoint host is required");
  },
  FilesystemTrimConfig: (document, { errors }) => {
    if (textAt(document, "interval").startsWith("-")) errors.push("interval cannot be negative");
  },
};

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

function extensionFaults(document: Section): readonly string[] {
  const name = textAt(document, "name");
  const files = sectionsAt(document, "configFiles");
  if (name === "") return ["name is required"];
  if (files.length === 0 && listAt(document, "environment").length === 0) {
    return [`no config files found for extension ${quoted(name)}`];
  }
  const required = { content: "content", mountPath: "mount path" };
  return files.flatMap((file) =>
    Object.entries(required)
      .filter(([key]) => textAt(file, key) === "")
      .map(([, what]) => `extension ${what} is required for extension ${quoted(name)}`),
  );
}

function logUrlFaults(url: string): readonly string[] {
  const { scheme, port, path } = urlParts(url);
  if (url === "") return ["url is required"];
  const faults: string[] = [];
  if (scheme !== "tcp" && scheme !== "udp") faults.push("url scheme must be tcp:// or udp://");
  if (path !== "" && path !== "/") faults.push("url path must be empty");
  if (port === "") faults.push("url port is required");
  return faults;
}

function checkImageRule(rule: Section, index: number, { errors, warnings }: Findings): void {
  const pattern = textAt(rule, "image");
  const only = "but matching only applies to the image registry and repository, not the tag or digest";
  const at = `rule ${index}:`;
  if (pattern === "") errors.push(`${at} imagePattern must be specified`);
  if (pattern.includes("@")) warnings.push(`${at} imagePattern contains '@' ${only}`);
  if (pattern.slice(pattern.indexOf("/") + 1).includes(":") && pattern.includes("/")) {
    warnings.push(`${at} imagePattern contains ':' ${only}`);
  }
  if (!pattern.includes("/") && pattern !== "*" && pattern !== "") {
    const example = "image references like 'nginx' are matched as 'docker.io/nginx' (normalized)";
    warnings.push(`${at} imagePattern does not contain a '/', ${example}`);
  }
  const [skip, deny] = [valueAt(rule, "skip") === true, valueAt(rule, "deny") === true];
  const [keyless, publicKey] = [sectionAt(rule, "keyless"), sectionAt(rule, "publicKey")];
  const verified = keyless !== undefined || publicKey !== undefined;
  if (skip && deny) errors.push(`${at} skip and deny cannot both be true`);
  if ((skip || deny) && verified) errors.push(`${at} verifiers cannot be configured if skip or deny is true`);
  if (!skip && !deny && !verified) errors.push(`${at} at least one verifier must be configured`);
  if (keyless && publicKey) errors.push(`${at} only one of keyless or publicKey verifier can be configured`);
  if (keyless && textAt(keyless, "issuer") === "") errors.push(`${at} verifier OIDC issuer must be specified`);
  if (keyless && textAt(keyless, "subject") === "" && textAt(keyless, "subjectRegex") === "") {
    errors.push(`${at} verifier subject or subjectRegex must be specified`);
  }
  if (publicKey && textAt(publicKey, "certificate") === "") {
    errors.push(`${at} verifier certificates must be specified`);
  }
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
