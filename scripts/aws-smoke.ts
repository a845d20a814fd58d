// SPDX-License-Identifier: Apache-2.0
// Runs the whole life of a small cluster in a real AWS account, and takes it down whatever happens: after a failure, a
// signal and the time limit too. Costs money: docs/aws.md#try-it-on-your-account.
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { estimate } from "./aws-smoke/estimate.ts";
import { type Place, release, smokeEnvironment, smokeSteps } from "./aws-smoke/life.ts";
import { Programs } from "./real/programs.ts";

const usage = `npm run smoke:aws -- --region eu-central-1 --account 111122223333 --admin-cidr 203.0.113.7/32
  --max-cost 5     refuse to start where the estimate is above, in USD
  --max-hours 3    stop after that and take everything down
  --burst          a pool with scaling as well: private machines, hence a NAT gateway
  --folder <path>  project and state of the run; default test-artifacts/aws-smoke
  --command <path> the talosmith to try; default: this checkout
  --teardown       only take down what an earlier run has left in the folder`;

const { values } = parseArgs({
  options: {
    region: { type: "string" },
    account: { type: "string" },
    "admin-cidr": { type: "string" },
    "max-cost": { type: "string", default: "5" },
    "max-hours": { type: "string", default: "3" },
    burst: { type: "boolean", default: false },
    folder: { type: "string", default: "test-artifacts/aws-smoke" },
    command: { type: "string" },
    teardown: { type: "boolean", default: false },
  },
});

const root = resolve(values.folder);
const file = join(root, "environments/smoke.yaml");
const stop = new AbortController();
const programs = (signal?: AbortSignal) =>
  new Programs({
    ...{ root, name: "smoke", env: process.env, detached: true, killAfter: 3600 },
    ...(signal === undefined ? {} : { signal }),
    ...(values.command === undefined ? {} : { command: [resolve(values.command)] }),
  });
let ending = false;
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(name, () => {
    console.error(ending ? `${name}: still taking it down; what is left costs money` : `${name}: stopping`);
    stop.abort();
  });

if (values.teardown) {
  if (!existsSync(file)) refuse(`--teardown: found no ${file}; nothing is left of an earlier run`);
} else begin();
const failed = values.teardown ? false : !(await live());
const left = !(await takeDown());
process.exitCode = failed || left ? 1 : 0;

/** Refuses before anything is made. */
function begin(): void {
  const place = placeOf();
  const [cost, hours] = [positive("max-cost"), positive("max-hours")];
  if (existsSync(file)) refuse(`${root}: an earlier run was not taken down. Run it with --teardown first.`);
  const expected = estimate({ burst: place.burst, hours });
  if (expected > cost)
    refuse(`about ${expected} USD for ${hours} hours, above --max-cost ${cost}. Raise it, or lower --max-hours.`);
  console.log(`about ${expected} USD at most for ${hours} hours (an estimate); log in ${root}/log.txt`);
  mkdirSync(join(root, "environments"), { recursive: true });
  writeFileSync(join(root, "cdktf.json"), "{}");
  writeFileSync(file, JSON.stringify(smokeEnvironment(place), undefined, 2));
  const limit = setTimeout(() => {
    console.error(`--max-hours ${hours} are over: stopping`);
    stop.abort();
  }, hours * 3_600_000);
  limit.unref();
}

/** Whether every step was seen. The first that was not is the last: a bill is no place for guesses. */
async function live(): Promise<boolean> {
  const steps = smokeSteps(values);
  for (const [index, { name, run }] of steps.entries()) {
    const place = `${index + 1} of ${steps.length}, ${name}`;
    try {
      stop.signal.throwIfAborted();
      console.log(`${place}: ${await run(programs(stop.signal))}`);
    } catch (error) {
      console.error(`${place}: ${stop.signal.aborted ? "stopped" : error instanceof Error ? error.message : error}`);
      return false;
    }
  }
  return true;
}

/** Whether nothing is left, as far as Terraform knows. What was begun is destroyed, whatever its state looks like now. */
async function takeDown(): Promise<boolean> {
  ending = true;
  const free = programs();
  const log = join(root, "log.txt");
  if (existsSync(log)) {
    if (existsSync(join(root, "generated/smoke/kubeconfig")) && (await release(free)).code !== 0)
      console.error(
        "teardown: the Service and the claim could not be deleted; look for their load balancer and volume",
      );
    let code: number | null = 1;
    for (let attempt = 1; attempt <= 3 && code !== 0; attempt++) {
      ({ code } = await free.talosmith(["destroy", "smoke", "--yes"]));
      console.log(`teardown, attempt ${attempt}: ${code === 0 ? "destroyed" : `exit code ${code}`}`);
    }
    if (code !== 0) {
      console.error(
        `teardown: NOT everything may be destroyed, and it costs money. Look into ${log} and run this with --teardown.`,
      );
      return false;
    }
    renameSync(log, `${root}.log`);
    console.log(`Log: ${root}.log. Check the console for resources with the tag purpose=talosmith-smoke.`);
  }
  free.remove();
  console.log("nothing is left, as far as Terraform knows");
  return true;
}

function placeOf(): Place {
  const { region, account, "admin-cidr": adminCidr, burst } = values;
  if (region === undefined || account === undefined || adminCidr === undefined)
    return refuse(`expected --region, --account and --admin-cidr\n${usage}`);
  return { region, account, adminCidr, burst };
}

function positive(name: "max-cost" | "max-hours"): number {
  const number = Number(values[name]);
  return number > 0 && Number.isFinite(number)
    ? number
    : refuse(`--${name}: found ${values[name]}, expected a number above 0`);
}

function refuse(message: string): never {
  console.error(message);
  process.exit(2);
}
