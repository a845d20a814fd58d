// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { linkTo, parseRoute, type Route } from "../../web/client/route.ts";

test.each<Route>([
  { screen: "overview" },
  { screen: "simulator" },
  { screen: "operations" },
  { screen: "operations", id: "7" },
  { screen: "etcd", environment: "lab" },
  { screen: "machine", environment: "lab", machine: "cp/1 %" },
])("the address of %j leads there", (route) => {
  expect(parseRoute(linkTo(route))).toEqual(route);
});

test.each(["", "#", "#/", "#/nowhere", "#/topology", "#/machine/lab", "#token=x", "#/topology/%E0%A4%A", "#/%"])(
  "%j, which is no address of ours, leads to the overview",
  (fragment) => {
    expect(parseRoute(fragment)).toEqual({ screen: "overview" });
  },
);
