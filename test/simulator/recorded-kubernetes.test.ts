// SPDX-License-Identifier: Apache-2.0
// The simulated API server gets the requests that `npm run record:kubernetes` made on a real one, and answers alike but for
// the differences that docs/simulator.md lists.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { play } from "../../scripts/recording/exchange.ts";
import { differences, type Recorded } from "../../scripts/recording/normalize.ts";
import { scenes } from "../../scripts/recording/scenes.ts";
import { type Difference, knownDifferences } from "./known-differences.ts";
import { KubernetesClient } from "./kubernetes-client.ts";
import { Laboratory } from "./laboratory.ts";

let lab: Laboratory;
let client: KubernetesClient;

beforeAll(async () => {
  lab = await Laboratory.open("recorded-kubernetes");
  const [first] = await lab.cluster(1, 0);
  client = await KubernetesClient.open(lab, first?.address ?? "");
});
afterAll(() => lab.close());

describe("the simulated API server", () => {
  test.concurrent.each(scenes)("answers the requests of $name as a real one did", async (scene) => {
    const file = new URL(`../golden/kubernetes/${scene.name}.json`, import.meta.url);
    const real = JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, Recorded>>;
    const found = await play(client, scene);
    expect(Object.keys(found)).toEqual(Object.keys(real));
    const differing = Object.keys(real).flatMap((name) =>
      differences(real[name], found[name]).map((place) => `${scene.name}, ${name}: ${place}`),
    );
    const expected = knownDifferences.filter(({ scene: of }) => of === scene.name).flatMap(placesOf);
    expect(differing.toSorted()).toEqual(expected.toSorted());
  });
});

const placesOf = ({ scene, exchanges, places }: Difference) =>
  exchanges.flatMap((name) => places.map((place) => `${scene}, ${name}: ${place}`));

test("docs/simulator.md gives the reason of each difference", () => {
  const page = readFileSync("docs/simulator.md", "utf8");
  for (const { reason } of knownDifferences) expect(page).toContain(reason);
});
