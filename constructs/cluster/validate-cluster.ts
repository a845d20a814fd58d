// SPDX-License-Identifier: Apache-2.0

interface ClusterFacts {
  readonly secretsFile?: string;
  readonly outputFolder?: string;
}

const isInside = (path: string | undefined) =>
  path === undefined || !(path.startsWith("/") || path.split("/").includes(".."));

/** What is wrong with the props of a cluster that an environment file does not have, in words. */
export function validateCluster({ secretsFile, outputFolder }: ClusterFacts): readonly string[] {
  if (isInside(secretsFile) && isInside(outputFolder)) return [];
  return ["secretsFile or outputFolder leaves the project; expected relative paths without .."];
}
