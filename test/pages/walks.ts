// SPDX-License-Identifier: Apache-2.0
import { checkoutWalks } from "./checkout-walks.ts";
import { cloudWalks } from "./cloud-walks.ts";
import { clusterWalks } from "./cluster-walks.ts";
import { foundWalks } from "./found-walks.ts";
import type { Walk } from "./walk.ts";

/** Every page that tells what to type, and the worlds in which it is typed. */
export const walks: readonly Walk[] = [...clusterWalks, ...checkoutWalks, ...cloudWalks, ...foundWalks];
