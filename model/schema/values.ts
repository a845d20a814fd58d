// SPDX-License-Identifier: Apache-2.0
import ipaddr from "ipaddr.js";
import * as z from "zod";
import { KubernetesVersion, newestKubernetesOf, newestTalosOf, TalosVersion } from "../../talos/version/index.ts";
import { contractNoun, isCidr, isContract, isDnsName, isHostOrAddress } from "../cluster-rules.ts";
import { isCron, isTimeZone } from "../cron.ts";
import { Cidr } from "../environment/cidr.ts";
import { parseSize } from "../environment/quantity.ts";
import { parseDuration } from "../settings/index.ts";

// Every error text in the schema is a noun phrase that completes "expected …"; one place builds the sentence.

function accepts(parse: (text: string) => unknown): (text: string) => boolean {
  return (text) => {
    try {
      parse(text);
      return true;
    } catch {
      return false;
    }
  };
}

function text(noun: string, test: (value: string) => boolean): z.ZodString {
  return z.string({ error: noun }).refine(test, { error: noun });
}

/** Text that is a version; where it names only a minor release, the example is the version to write. */
function version(
  noun: string,
  parse: (text: string) => unknown,
  newestOf: (text: string) => string | undefined,
  example: string,
) {
  const error = ({ input }: { readonly input?: unknown }) =>
    `${noun}, such as ${(typeof input === "string" ? newestOf(input) : undefined) ?? example}`;
  return z.string({ error }).refine(accepts(parse), { error });
}

export const talosVersion = version("an exact Talos version from 1.9 on", TalosVersion.parse, newestTalosOf, "v1.13.9");
export const kubernetesVersion = version(
  "an exact Kubernetes version",
  KubernetesVersion.parse,
  newestKubernetesOf,
  "1.36.3",
);
export const configContract = text(contractNoun, isContract);

/** What may name a cluster or a pool: the beginning of host names and of Terraform addresses. */
export const name = text(
  "a name of at most 40 lower-case letters, digits and hyphens that starts with a letter",
  (value) => /^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/.test(value),
);
/** What may name a Helm release, a namespace or another object of Kubernetes. */
export const kubernetesName = text("a name of at most 53 lower-case letters, digits and hyphens", (value) =>
  /^[a-z0-9]([a-z0-9-]{0,51}[a-z0-9])?$/.test(value),
);
export const dnsName = text("a DNS name such as cluster.local", isDnsName);
export const address = text("an IPv4 address such as 10.0.0.1", (value) => ipaddr.IPv4.isValidFourPartDecimal(value));
export const anyAddress = text(
  "an IP address such as 10.0.0.1 or fd00::1",
  (value) => ipaddr.IPv4.isValidFourPartDecimal(value) || (ipaddr.IPv6.isValid(value) && !value.includes("%")),
);
export const hostOrAddress = text("a host name or an IP address", isHostOrAddress);
export const cidr = text(
  "an IPv4 network such as 10.0.0.0/24, host bits zero",
  (value) => Cidr.tryParse(value) !== undefined,
);
export const anyCidr = text("a network such as 10.244.0.0/16", isCidr);
export const size = text('a size such as "4GiB"', (value) => parseSize(value) !== undefined).transform(
  (value) => parseSize(value) ?? Number.NaN,
);
/** Milliseconds. */
export const duration = text('a duration such as "90s", "12h" or "30d"', (value) =>
  /^(\d+[smhd])+$/.test(value),
).transform(parseDuration);
export const cron = text('a cron expression of five fields, such as "0 3 * * *"', isCron);
export const timeZone = text("a time zone such as Europe/Berlin", isTimeZone);
export const url = text("an http or https URL", (value) => /^https?:\/\/[^\s]+$/.test(value));
export const endpoint = text(
  "a URL such as https://k8s.example.com:6443",
  (value) => /^https:\/\/[^\s/]+(:\d+)?$/.test(value) && URL.canParse(value),
);
export const relativePath = text(
  "a path inside the project, such as secrets/lab.yaml",
  (value) =>
    value !== "" && !/^([/~]|[A-Za-z]:)/.test(value) && !value.split(/[\\/]/).includes("..") && !/[\n\r\0]/.test(value),
);
/** Of every kind of infrastructure. */
export const deletionProtection = z
  .boolean()
  .default(false)
  .describe("Refuse to destroy the cluster and to remove its machines.");
export const trustOnFirstUse = z
  .boolean()
  .default(false)
  .describe(
    "Apply the initial config, which holds the CA keys, to whatever answers at a machine's address. Only in a network where nobody else can answer there.",
  );
export const count = (minimum: number, maximum: number) => {
  const noun = `a whole number from ${minimum} to ${maximum}`;
  return z.int({ error: noun }).min(minimum, { error: noun }).max(maximum, { error: noun });
};
