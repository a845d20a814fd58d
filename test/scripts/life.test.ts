// SPDX-License-Identifier: Apache-2.0
// The life of a cluster on real Talos and Kubernetes, recorded by `npm run test:real -- --compare`, and the same on the simulator.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as z from "zod";
import { createProgram, runProgram } from "../../cli/program.ts";
import { registrations } from "../../cli/registrations.ts";
import { simulatedLab } from "../../scripts/real/lab.ts";
import {
  knownLifeDifferences,
  lifeDifferences,
  recordedLife,
  unknownDifferences,
} from "../../scripts/real/life-differences.ts";
import type { Ended } from "../../scripts/real/programs.ts";
import { Project } from "../../scripts/real/project.ts";
import { live, observation } from "../../scripts/real/scenario.ts";
import { systemClock } from "../../talos/clock.ts";
import { KubernetesClient } from "../simulator/kubernetes-client.ts";
import { testContext } from "../support/command-context.ts";
import { everything } from "../support/everything.ts";

/** Runs commands in this process, and needs no kubectl. */
class LocalProject extends Project {
  override async talosmith(words: readonly string[]): Promise<Ended> {
    const context = testContext({ cwd: this.root, clock: systemClock, env: { PATH: "/nowhere" } });
    await runProgram(createProgram(context, registrations), words, context);
    const { stdout, stderr, exitCode } = context.written;
    return { code: exitCode, stdout, said: `${stdout}${stderr}`, seconds: 0 };
  }

  override async kubernetes(path: string): Promise<unknown> {
    const kubeconfig = readFileSync(join(this.root, "generated/trial/kubeconfig"), "utf8");
    return (await KubernetesClient.of(kubeconfig).call<unknown>("GET", path)).body;
  }
}

let project: LocalProject;
beforeAll(() => {
  vi.stubEnv("TALOSMITH_SIMULATOR_TIME_SCALE", "0.05");
  project = new LocalProject(simulatedLab());
});
afterAll(async () => {
  await project.talosmith(["sim", "down", "--all"]);
  vi.unstubAllEnvs();
  project.remove();
});

test.skipIf(!everything)(
  "each phase does and leaves on the simulator what it does and leaves on real machines",
  async () => {
    const real = z.array(observation).parse(JSON.parse(readFileSync(recordedLife, "utf8")));
    const found = await live(project);
    expect(found.map(({ phase }) => phase)).toEqual(real.map(({ phase }) => phase));
    expect(unknownDifferences(real, found)).toEqual([]);
    const differences = lifeDifferences(real, found);
    const gone = knownLifeDifferences.filter(({ place }) => !differences.some((each) => place.test(each)));
    expect(gone).toEqual([]);
  },
);

test("docs/simulator.md gives the reason of each difference", () => {
  const page = readFileSync("docs/simulator.md", "utf8");
  for (const { reason } of knownLifeDifferences) expect(page).toContain(reason);
});
