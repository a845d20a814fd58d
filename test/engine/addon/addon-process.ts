// SPDX-License-Identifier: Apache-2.0
// A process of its own that applies an add-on, to be killed: `addon-process.ts <kubeconfig> <add-on as JSON>`.
import { applyAddon, findHelm } from "../../../engine/addon/index.ts";

const [, , kubeconfig = "", addon = ""] = process.argv;
await applyAddon(JSON.parse(addon), { helm: findHelm(process.env), kubeconfig });
