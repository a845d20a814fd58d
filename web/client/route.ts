// SPDX-License-Identifier: Apache-2.0

/** Which screen the address names. Kept in the fragment, so that the server has one page. */
export type Route =
  | { readonly screen: "overview" }
  | { readonly screen: "simulator" }
  | { readonly screen: "operations"; readonly id?: string }
  | { readonly screen: ClusterScreen; readonly environment: string }
  | { readonly screen: "machine"; readonly environment: string; readonly machine: string };

export const clusterScreens = ["topology", "machines", "etcd", "changes"] as const;
export type ClusterScreen = (typeof clusterScreens)[number];

/** What is no address of ours, such as one that was cut off, leads to the overview. */
export function parseRoute(fragment: string): Route {
  const [screen = "", first, second] = partsOf(fragment.replace(/^#?\//, ""));
  if (screen === "operations") return first === undefined ? { screen } : { screen, id: first };
  if (screen === "simulator") return { screen };
  if (screen === "machine" && first !== undefined && second !== undefined)
    return { screen, environment: first, machine: second };
  const cluster = clusterScreens.find((name) => name === screen);
  if (cluster !== undefined && first !== undefined) return { screen: cluster, environment: first };
  return { screen: "overview" };
}

function partsOf(path: string): readonly string[] {
  try {
    return path.split("/").map(decodeURIComponent);
  } catch {
    return [];
  }
}

export function linkTo(route: Route): string {
  const parts = Object.values(route).filter((part): part is string => part !== undefined);
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}
