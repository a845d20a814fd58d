// SPDX-License-Identifier: Apache-2.0
import type { BuildOptions } from "esbuild";
import { leaveOutProtoLoader } from "../provider/packaging/bundle.ts";

/** How the published package's code is bundled. */
export const bundleOptions = {
  bundle: true,
  splitting: true,
  platform: "node",
  format: "esm",
  target: "node20.19",
  chunkNames: "chunks/[name]-[hash]",
  minifySyntax: true,
  minifyWhitespace: true,
  // Node shows the line of an error that nobody catches: the whole bundle, if it were one line.
  lineLimit: 200,
  legalComments: "none",
  logLevel: "warning",
  // Two copies of the CDK in one program do not know each other's constructs; esbuild and tsx serve a checkout only.
  external: ["cdktn", "constructs", "esbuild", "tsx"],
  plugins: [leaveOutProtoLoader],
  // Packages in the older module system ask for Node's own modules by require.
  banner: { js: "import{createRequire as __r}from'node:module';const require=__r(import.meta.url);" },
} satisfies BuildOptions;
