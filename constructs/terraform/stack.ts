// SPDX-License-Identifier: Apache-2.0
import { TerraformElement, TerraformStack } from "cdktn";
import type { Construct, IConstruct, Node } from "constructs";
import { refuse } from "../errors.ts";

/** The oldest that was tried, of Terraform and OpenTofu alike; what needs a newer one says so with `requireTerraform`. */
const oldestTerraform = "1.8.0";
/** Locks of a state in S3 without a table: the CDK refuses to write them for stacks that older ones may read. */
const newestNeed = ">=1.10.0";

/** Parts of a path that do not show in addresses: the main resource of a construct, and the main constructs of a stack. */
const hidden: ReadonlySet<string> = new Set(["Resource", "Default", "Infrastructure", "Member", "Machines"]);

/** Where classes of the CDK have their name and version. */
const rtti = Symbol.for("jsii.rtti");

/** What a construct adds to the addresses below it: its id, unless it has another name for people. */
function addressPart(construct: IConstruct): string {
  return (construct as { addressPart?: string }).addressPart ?? construct.node.id;
}

function kindOf(element: TerraformElement): string {
  const { terraformResourceType } = element as { terraformResourceType?: string };
  return terraformResourceType ?? element.constructor.name;
}

/** Whether its class, or one that this class extends, is of the CDK before the fork. */
function isArchived(construct: IConstruct): boolean {
  for (let made: unknown = construct.constructor; typeof made === "function"; made = Object.getPrototypeOf(made)) {
    const { fqn = "" } = (made as { [rtti]?: { readonly fqn: string } })[rtti] ?? {};
    if (fqn.startsWith("cdktf.")) return true;
  }
  return false;
}

/** The name of a block in its address, from the parts of its construct's path. */
export function addressName(parts: readonly string[]): string {
  const shown = parts.filter((part) => !hidden.has(part));
  return shown.join("_").replaceAll(/[^A-Za-z0-9_]/g, "_");
}

/**
 * A stack whose addresses a person can type: the construct path with underscores, no hash. They are public: a changed
 * address destroys and makes anew what stands at it.
 */
export class TalosStack extends TerraformStack {
  readonly #taken = new Map<string, string>();

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.node.setContext("targetVersions", { terraform: newestNeed, opentofu: newestNeed });
    requireTerraform(this, oldestTerraform);
  }

  /** @internal The CDK itself would fail without a word about the reason. */
  override prepareStack(): void {
    const archived = this.node.findAll().find(isArchived);
    if (archived !== undefined)
      refuse(
        archived,
        "found a construct of the archived package cdktf; expected those of cdktn. Use @cdktn/provider-* in place of @cdktf/provider-*, or make cdktf a name for cdktn (docs/constructs.md, Resources of your own)",
      );
    super.prepareStack();
  }

  protected override allocateLogicalId(element: TerraformElement | Node): string {
    const node = TerraformElement.isTerraformElement(element) ? element.node : (element as Node);
    const id = addressName(node.scopes.slice(node.scopes.indexOf(this) + 1).map(addressPart));
    if (!TerraformElement.isTerraformElement(element)) return id;
    if (!/^[A-Za-z_]/.test(id)) refuse(element, `its address would be "${id}"; expected one that starts with a letter`);
    const address = `${kindOf(element)}.${id}`;
    const owner = this.#taken.get(address);
    if (owner !== undefined && owner !== node.path)
      refuse(element, `its address ${address} is taken by ${owner}; give one of them another id`);
    this.#taken.set(address, node.path);
    return id;
  }
}

/** Makes an older Terraform or OpenTofu refuse the stack, in its own words, before it reads what it does not know. */
export function requireTerraform(stack: TerraformStack, version: string): void {
  stack.addOverride("terraform.required_version", `>= ${version}`);
}
