// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { registerImage } from "../../cli/commands/image.ts";
import { createProgram, runProgram } from "../../cli/program.ts";
import { testContext } from "../support/command-context.ts";

const folder = mkdtempSync(join(tmpdir(), "talosmith-image-fetch-"));
const servers: Server[] = [];
const factories: string[] = [];

beforeAll(async () => {
  for (const name of ["first", "second"]) {
    const server = createServer((_, response) => response.end(`${name} factory`));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    servers.push(server);
    factories.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }
});
afterAll(async () => {
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

test("images of two factories do not mix, though schematic and version are the same", async () => {
  const fetchFrom = async (factory: string) => {
    const context = testContext({ cwd: folder, env: { HOME: folder } });
    const flags = ["--factory-url", factory, "--schematic-id", "a".repeat(64), "--json"];
    await runProgram(createProgram(context, [registerImage]), ["image", "fetch", "iso", ...flags], context);
    return JSON.parse(context.written.stdout) as { path: string; cached: boolean };
  };
  const contents = [];
  for (const factory of factories) contents.push(readFileSync((await fetchFrom(factory)).path, "utf8"));
  expect(contents).toEqual(["first factory", "second factory"]);
  expect(await fetchFrom(factories[0] ?? "")).toMatchObject({ cached: true });
});
