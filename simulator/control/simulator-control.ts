// SPDX-License-Identifier: Apache-2.0
import { TalosError, type TalosErrorCode } from "../../talos/errors.ts";
import { type DaemonCommand, endDaemon, ensureDaemon, isEmpty } from "./daemon-process.ts";
import type { Fault } from "./fault-schema.ts";
import {
  type Answer,
  type CreateMachine,
  type DaemonRecord,
  type ErrorBody,
  post,
  type RequestName,
  type Requests,
  type SimulatedMachine,
} from "./protocol.ts";

export interface SimulatorOptions {
  /** What starts the daemon; the directory is added as its last argument. */
  readonly daemonCommand: DaemonCommand;
}

/** No request takes this long; a daemon that hangs must not hang its client. */
const patience = 60_000;

/**
 * The simulator of one directory. Every call starts its daemon when none runs; the machines go on from disk. After the
 * first call a daemon that is killed is started again, as long as this process runs.
 */
export interface SimulatorControl {
  /**
   * Makes and switches on a machine; an existing one of the same cluster and name is returned as it is, unless it has
   * another owner.
   */
  createMachine(input: CreateMachine): Promise<SimulatedMachine>;
  getMachine(id: string): Promise<SimulatedMachine | undefined>;
  listMachines(): Promise<readonly SimulatedMachine[]>;
  /** Removes a machine as if its hardware were taken away; no error when it is gone already. With the last one the daemon ends and its directory goes. */
  deleteMachine(id: string): Promise<void>;
  /** Hands a machine over, whoever had it. */
  setOwner(id: string, owner: string): Promise<void>;
  /** Cuts or restores a machine's power. */
  setPower(id: string, on: boolean): Promise<void>;
  /** Replaces a machine's faults; none clears them. */
  setFaults(id: string, faults: readonly Fault[]): Promise<void>;
  /** What its platform hands a machine out as config whenever it boots without one; undefined takes it away. */
  setUserData(id: string, userData: string | undefined): Promise<void>;
  /** Ends the daemon, if one runs, and keeps the machines on disk. */
  shutdown(): Promise<void>;
}

export function simulatorAt(directory: string, options: SimulatorOptions): SimulatorControl {
  // Calls that come together look for the daemon once: a hundred at a time must not start a hundred processes.
  let looking: Promise<DaemonRecord> | undefined;
  // The one that answered last. To look whether it is there, and of our code, takes longer than what it is asked.
  let known: DaemonRecord | undefined;
  const daemonOf = (): Promise<DaemonRecord> => {
    looking ??= ensureDaemon(directory, options.daemonCommand).finally(() => {
      looking = undefined;
    });
    return looking;
  };
  /** Undefined when none is known, or when it is gone. */
  const askKnown = async <N extends RequestName>(name: N, input: Requests[N]["input"]) => {
    const daemon = known;
    if (daemon === undefined) return undefined;
    try {
      return { output: await send(daemon, name, input) };
    } catch (error) {
      if (!(error instanceof TalosError) || error.code !== "unavailable") throw error;
      if (known === daemon) known = undefined;
      return undefined;
    }
  };
  const ask = async <N extends RequestName>(name: N, input: Requests[N]["input"]): Promise<Requests[N]["output"]> => {
    for (let attempt = 1; ; attempt++) {
      const answer = await askKnown(name, input);
      if (answer !== undefined) return answer.output;
      // It may end itself between the look and the call: then a new one answers.
      if (attempt > 2) throw noAnswer();
      known = await daemonOf();
    }
  };
  const tell = async <N extends RequestName>(name: N, input: Requests[N]["input"]): Promise<void> => {
    await ask(name, input);
  };
  /** Without a daemon and without machines on disk there is nothing to ask, and nothing to start. */
  const askUnlessEmpty = async <N extends RequestName>(name: N, input: Requests[N]["input"]) => {
    const answer = await askKnown(name, input);
    if (answer !== undefined) return answer.output;
    return (await isEmpty(directory)) ? undefined : ask(name, input);
  };
  const list = async () => (await askUnlessEmpty("list-machines", {})) ?? [];
  // A plan asks for each of a hundred machines: those who come while one list is under way share the next. That one
  // itself may be too old for them, because they may know of a machine that was made since.
  let current: Promise<unknown> = Promise.resolve();
  let next: Promise<readonly SimulatedMachine[]> | undefined;
  const listed = (): Promise<readonly SimulatedMachine[]> => {
    next ??= current.then(() => {
      const made = list();
      next = undefined;
      current = made.catch(() => undefined);
      return made;
    });
    return next;
  };
  return {
    createMachine: (input) => ask("create-machine", input),
    getMachine: async (id) => (await listed()).find((machine) => machine.id === id),
    listMachines: listed,
    async deleteMachine(id) {
      await askUnlessEmpty("delete-machine", { id });
    },
    setOwner: (id, owner) => tell("set-owner", { id, owner }),
    setPower: (id, on) => tell("set-power", { id, on }),
    setFaults: (id, faults) => tell("set-faults", { id, faults }),
    setUserData: (id, userData) => tell("set-user-data", { id, userData }),
    shutdown: () => endDaemon(directory),
  };
}

function noAnswer(cause?: unknown): TalosError {
  return new TalosError("unavailable", "the simulator's daemon does not answer", { cause });
}

async function send<N extends RequestName>(
  daemon: DaemonRecord,
  name: N,
  input: Requests[N]["input"],
): Promise<Requests[N]["output"]> {
  let answer: Answer;
  try {
    answer = await post(daemon, name, JSON.stringify(input), patience);
  } catch (cause) {
    throw noAnswer(cause);
  }
  // Another directory's, at the port that ours had: it does not know our token.
  if (answer.status === 401) throw noAnswer();
  const body: unknown = JSON.parse(answer.body);
  if (answer.status === 200) return body as Requests[N]["output"];
  const { code, message, hint } = body as ErrorBody;
  throw new TalosError(code as TalosErrorCode, message, hint === undefined ? {} : { hint });
}
