// SPDX-License-Identifier: Apache-2.0
import { TalosError } from "./errors.ts";

/** Throws, in talosctl's words, when the endpoint is not an https URL with a host. */
export function checkEndpoint(endpoint: string): URL {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(endpoint)?.[1];
  const host = endpoint.slice(scheme === undefined ? 0 : scheme.length + 3).replace(/\/.*$/, "");
  const port = /(?:^|[^:]):(\d+)$|\]:(\d+)$/.exec(host);
  const example = `try: "https://${host === "" ? "<host>" : host}${port === null ? ":6443" : ""}"`;
  if (scheme === undefined) {
    const missing = port === null ? "no scheme and port specified" : "no scheme specified";
    throw new TalosError("invalid-input", `${missing} for the cluster endpoint URL\n${example}`);
  }
  if (scheme.toLowerCase() !== "https") {
    throw new TalosError("invalid-input", `the control plane endpoint URL should have scheme https://\n${example}`);
  }
  try {
    return new URL(endpoint);
  } catch (cause) {
    const message = `failed to parse the cluster endpoint URL: found ${JSON.stringify(endpoint)}`;
    throw new TalosError("invalid-input", `${message}\ntry: "https://<host>:6443"`, { cause });
  }
}
