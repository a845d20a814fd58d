// SPDX-License-Identifier: Apache-2.0
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from "node:http2";
import type { TLSSocket, TlsOptions } from "node:tls";
import { apiServerReady, configOf } from "../controllers/membership.ts";
import type { Simulation } from "../simulation.ts";
import { discover, openApi } from "./discovery.ts";
import { answerReview, asksReview, identify, isAdministrator } from "./identity.ts";
import { kubernetesVersionOf } from "./node.ts";
import { handleObjects } from "./objects.ts";
import { openApiV2, openApiV2Type } from "./open-api-v2.ts";
import { UnknownPath } from "./request.ts";
import { ApiError, send, sendJson, statusObject } from "./status.ts";
import { historyOf } from "./watch.ts";

const maxBody = 8 * 1024 * 1024;

/** The API server of one control plane: HTTP/1.1 and HTTP/2 over TLS, clients known by certificates or service account tokens. */
export function createKubernetesServer(tls: TlsOptions, simulation: Simulation, machineId: string): Http2SecureServer {
  historyOf(simulation);
  const server = createSecureServer({ ...tls, minVersion: "TLSv1.2", allowHTTP1: true }, (request, response) => {
    serve(simulation, machineId, request, response).catch((error: unknown) => fail(response, error));
  });
  server.on("sessionError", () => undefined);
  server.on("tlsClientError", () => undefined);
  return server;
}

async function serve(
  simulation: Simulation,
  machineId: string,
  request: Http2ServerRequest,
  response: Http2ServerResponse,
): Promise<void> {
  const url = new URL(request.url, "https://localhost");
  const machine = simulation.world.machines[machineId];
  const config = machine === undefined ? undefined : configOf(machine);
  if (machine === undefined || config === undefined)
    throw new ApiError("ServiceUnavailable", "the server is going away");
  const cluster = simulation.world.clusters[config.clusterKey];
  const user = identify(request.socket as TLSSocket, request.headers.authorization, cluster);
  if (!isAdministrator(user) && !user.name.startsWith("system:serviceaccount:"))
    throw new ApiError("Forbidden", `User "${user.name}" may not do this in the simulated cluster`);
  const ready = apiServerReady(simulation.world, machine, simulation.moment.now);
  if (/^\/(readyz|livez|healthz)(\/|$)/.test(url.pathname)) {
    return sendHealth(response, url, ready || url.pathname.startsWith("/livez"));
  }
  if (url.pathname === "/openapi/v2") return send(response, 200, openApiV2Type, openApiV2(cluster));
  const server = { address: machine.address, version: kubernetesVersionOf(config.images.apiServer) };
  const found = discover(cluster, url.pathname, server);
  if (found !== undefined) return sendJson(response, 200, found);
  const schemas = openApi(cluster, url.pathname);
  if (schemas === undefined && url.pathname.startsWith("/openapi/v3/")) {
    response.statusCode = 404;
    response.end();
    return;
  }
  if (schemas !== undefined) return send(response, 200, schemas.type, JSON.stringify(schemas.document));
  // What a service account may do is not worked out for questions, only for what it does.
  if (request.method === "POST" && isAdministrator(user) && asksReview(url.pathname))
    return sendJson(response, 201, answerReview(url.pathname, user, await readBody(request)));
  if (!ready) throw new ApiError("InternalError", "etcdserver: request timed out");
  await handleObjects(
    {
      simulation,
      clusterKey: config.clusterKey,
      serviceSubnet: config.serviceSubnets[0] ?? "10.96.0.0/12",
      user,
      url,
      method: request.method,
      accept: String(request.headers.accept ?? ""),
      contentType: String(request.headers["content-type"] ?? "application/json"),
      userAgent: String(request.headers["user-agent"] ?? ""),
      body: () => readBody(request),
    },
    response,
  );
}

function sendHealth(response: Http2ServerResponse, url: URL, ready: boolean): void {
  const [, check = "readyz", ...part] = url.pathname.split("/");
  const checks = ["ping", "log", "etcd", "informer-sync", "poststarthook/start-apiserver-admission-initializer"];
  if (part.length > 0 && !checks.includes(part.join("/"))) throw new UnknownPath();
  const lines = checks.map((name) => (name === "etcd" && !ready ? "[-]etcd failed: reason withheld" : `[+]${name} ok`));
  const verbose = `${lines.join("\n")}\n${check} check ${ready ? "passed" : "failed"}\n`;
  const text = ready && !url.searchParams.has("verbose") ? "ok" : verbose;
  send(response, ready ? 200 : 500, "text/plain; charset=utf-8", text);
}

function fail(response: Http2ServerResponse, error: unknown): void {
  if (error instanceof UnknownPath && !response.headersSent) {
    send(response, 404, "text/plain; charset=utf-8", "404 page not found\n");
    return;
  }
  const known =
    error instanceof ApiError
      ? error
      : new ApiError("InternalError", error instanceof Error ? error.message : String(error));
  if (response.headersSent) response.stream?.destroy();
  else sendJson(response, known.code, statusObject(known));
}

async function readBody(request: Http2ServerRequest): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size > maxBody) throw new ApiError("RequestEntityTooLarge", "the request is too large");
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
