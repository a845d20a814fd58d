// SPDX-License-Identifier: Apache-2.0
import { isDeepStrictEqual } from "node:util";
import { type ITerraformIterator, TerraformLocal, type TerraformResource } from "cdktn";
import type { Construct } from "constructs";
import type { Role } from "../../model/index.ts";
import { refuse } from "../errors.ts";
import { type Addressable, type AttributeValue, expression, late, Resource } from "../terraform/index.ts";

/** A machine to create. */
export interface MachineRequest {
  /** Host name. */
  readonly name: string;
  /** Role in the cluster. */
  readonly role: Role;
  /** Name of its pool. */
  readonly pool: string;
  /** Position in its pool, starting at 1. */
  readonly index: number;
  /** What tells it from others in addresses, such as `w-7` in `aws_instance.worker["w-7"]`. */
  readonly key: string;
}

/** A machine in an expression: any of its pool, inside of a block or of a `for`, or a certain one. */
export interface MachineReference {
  /** Expression of its key: `each.key`, `key`, or the key in quotes. */
  readonly key: string;
  /** Expression of its row in the map of the pool's machines. */
  readonly row: string;
  /** Host name; may hold a reference. */
  readonly name: string;
  /** The machine, where it is a certain one. @default - any machine of the pool */
  readonly machine?: MachineRequest;
}

/** The machines of a pool, as an infrastructure has made them: one block of each resource, for all of them. */
export interface MachineSet {
  /** What the machines are and need: created before they join the cluster, deleted after they are removed. */
  readonly resources: readonly Addressable[];
  /** Address of a machine's Talos API; usually a reference. */
  address(at: MachineReference): string;
  /** What stays the same for as long as it is the same machine to the cluster: a reference, usually to its disk. */
  identity(at: MachineReference): string;
  /** Fingerprint of its certificate in maintenance mode, where it is known. @default - not known */
  fingerprint?(at: MachineReference): string | undefined;
  /** A reference that changes when the machine has to be stopped, or replaced around its disk. @default - none */
  hardwareId?(at: MachineReference): string | undefined;
  /** Bytes of the machines' disks, where they can grow and not shrink. @default - not known */
  readonly diskSize?: number;
  /** Id by which a cloud controller manager knows its node. @default - none */
  providerId?(at: MachineReference): string | undefined;
  /** Values of its META partition by key. @default - none */
  meta?(at: MachineReference): { readonly [key: string]: string } | undefined;
  /** Config patches that its infrastructure needs. @default - none */
  patches?(at: MachineReference): readonly string[];
}

/** One machine of a cluster. */
export class Machine implements MachineRequest {
  readonly name: string;
  readonly role: Role;
  readonly pool: string;
  readonly index: number;
  readonly key: string;
  readonly #rows: MachineRows;
  readonly #set: MachineSet;

  /** @internal */
  constructor(request: MachineRequest, rows: MachineRows, set: MachineSet) {
    this.name = request.name;
    this.role = request.role;
    this.pool = request.pool;
    this.index = request.index;
    this.key = request.key;
    this.#rows = rows;
    this.#set = set;
  }

  /** Address of its Talos API; usually a reference. */
  get address(): string {
    return this.#set.address(this.#rows.at(this));
  }

  /**
   * Sets an argument for this machine alone, of a block that makes all machines of the pool. `argument` is spelled as in
   * Terraform; dots lead into blocks and objects. Throws when `resource` is no block of the pool.
   */
  override(resource: TerraformResource, argument: string, value: AttributeValue): void {
    this.#rows.override(this.key, resource, argument, value);
  }
}

/** Reads a text of a machine where an expression stands. */
export type MachineValue = (at: MachineReference) => string;

/** The map of a pool's machines, which the blocks of the pool have in `for_each`: one row for each machine. */
export class MachineRows {
  /** The machines. */
  readonly machines: readonly MachineRequest[];
  readonly #scope: Construct;
  readonly #name: (key: string) => string;
  readonly #rows: ReadonlyMap<string, Record<string, AttributeValue>>;
  /** The texts of each machine that others may hold, such as its address. */
  readonly #facts: readonly Map<string, string>[];
  /** Columns of overridden arguments, each with the argument that it is for. */
  readonly #overridden = new Map<string, string>();
  #iterator: (ITerraformIterator & { readonly local: TerraformLocal }) | undefined;

  /** @internal `name` makes a host name of a key or of a reference to one. */
  constructor(scope: Construct, machines: readonly MachineRequest[], name: (key: string) => string) {
    this.machines = machines;
    this.#scope = scope;
    this.#name = name;
    this.#rows = new Map(machines.map(({ key }) => [key, {}]));
    this.#facts = machines.map((machine) => new Map([[nameMark, machine.name]]));
  }

  /** For the `forEach` of a resource: one instance for each machine. */
  get forEach(): ITerraformIterator {
    return this.#inStack;
  }

  /** `local.<pool>` */
  get expression(): string {
    return `local.${this.#inStack.local.friendlyUniqueId}`;
  }

  /** The machine that a block with `forEach` is about. */
  get each(): MachineReference {
    return { key: "each.key", row: "each.value", name: this.#name(expression("each.key")) };
  }

  /** The machine that `for key, machine in <expression>` is about. */
  get loop(): MachineReference {
    return { key: "key", row: "machine", name: this.#name(expression("key")) };
  }

  /** `for …` over the machines, up to the value: the variables that `value`, an expression, has in it. */
  for(value: string): string {
    return `for ${/\bkey\b/.test(value) ? "key, " : ""}machine in ${this.expression} : ${value}`;
  }

  /** A certain machine. */
  at(machine: MachineRequest): MachineReference {
    const key = JSON.stringify(machine.key);
    return { key, row: `${this.expression}[${key}]`, name: machine.name, machine };
  }

  /** Gives each machine a value of its own. */
  column(name: string, own: (machine: MachineRequest) => AttributeValue): MachineValue {
    for (const [index, machine] of this.machines.entries()) {
      const value = own(machine);
      this.#row(machine.key)[name] = value;
      if (typeof value === "string") this.#facts[index]?.set(name, value);
    }
    return ({ machine, row }) => {
      const value = machine && this.#row(machine.key)[name];
      return typeof value === "string" ? value : expression(`${row}.${name}`);
    };
  }

  /** A value for each machine: written once where they differ in the machines' names and columns alone. */
  shared<T extends AttributeValue>(name: string, own: (machine: MachineRequest) => T): (at: MachineReference) => T {
    const values = this.machines.map(own);
    const first = template(values[0], this.#facts[0] ?? new Map());
    const isShared = values.every((value, index) =>
      isDeepStrictEqual(
        value,
        mapTexts(first, (text) => fill(text, (fact) => this.#facts[index]?.get(fact) ?? "")),
      ),
    );
    const column = isShared ? undefined : this.column(name, own);
    return (at) => {
      if (at.machine !== undefined) return own(at.machine);
      if (column !== undefined) return column(at) as T;
      const known = (fact: string) => (fact === nameMark ? at.name : expression(`${at.row}.${fact}`));
      return mapTexts(first, (text) => fill(text, known)) as T;
    };
  }

  /** Sets an argument of a block for one machine alone. */
  override(key: string, resource: TerraformResource, argument: string, value: AttributeValue): void {
    if (!(resource instanceof Resource) || resource.forEach !== this.forEach)
      refuse(resource, `it does not make ${key}; expected a block of the pool of ${key}`);
    const column = this.#columnFor(resource, argument);
    resource.letInstancesSet(argument, column);
    this.#row(key)[column] = value;
  }

  /** Called as the argument, where no other column is; blocks may have arguments of the same name. */
  #columnFor({ terraformResourceType, terraformAddress }: Resource<object>, argument: string): string {
    const owner = `${terraformAddress} ${argument}`;
    const isFree = (name: string) =>
      (this.#overridden.get(name) ?? owner) === owner &&
      (this.#overridden.has(name) || [...this.#rows.values()].every((row) => !Object.hasOwn(row, name)));
    const name = argument.replaceAll(".", "_");
    const whole = `${terraformAddress.replace(".", "_")}_${name}`;
    const column = [name, `${terraformResourceType}_${name}`].find(isFree) ?? whole;
    this.#overridden.set(column, owner);
    return column;
  }

  /** Pools whose machines come and go by themselves have no map. */
  get #inStack() {
    if (this.#iterator !== undefined) return this.#iterator;
    const rows = late(() => Object.fromEntries(this.#rows));
    const local = new TerraformLocal(this.#scope, "Machines", rows);
    const all = () => expression(this.expression);
    this.#iterator = { local, _getForEachExpression: all, _getForExpressionInput: all };
    return this.#iterator;
  }

  #row(key: string): Record<string, AttributeValue> {
    const row = this.#rows.get(key);
    if (row === undefined) throw new Error(`no machine ${key} in this pool`);
    return row;
  }
}

const nameMark = "";

function fill(text: string, known: (fact: string) => string): string {
  return text.replaceAll(/\0([a-z_]*)\0/g, (_, fact: string) => known(fact));
}

/** A value with marks where its texts say what is known of a machine anyway. */
function template(value: AttributeValue, facts: ReadonlyMap<string, string>): AttributeValue {
  const known = [...facts]
    .filter(([, fact]) => fact !== "")
    .sort(([, left], [, right]) => right.length - left.length)
    .map(([name, fact]) => {
      const plain = fact.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
      return { mark: `\0${name}\0`, whole: new RegExp(`(?<![A-Za-z0-9])${plain}(?![A-Za-z0-9])`, "g") };
    });
  return mapTexts(value, (text) => {
    const marked = known.reduce((rest, { mark, whole }) => rest.replaceAll(whole, mark), text);
    // The CDK takes a `${` of the text for the beginning of an expression, and a reference in it or behind a `$` for a part.
    return /\$[{\0]/.test(marked) ? text : marked;
  });
}

function mapTexts(value: AttributeValue, change: (text: string) => string): AttributeValue {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: AttributeValue) => mapTexts(item, change));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapTexts(inner, change)]));
}
