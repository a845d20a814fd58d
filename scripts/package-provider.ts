// SPDX-License-Identifier: Apache-2.0
// Builds dist/provider, which a published package carries, and dist/release: archives for a registry and a mirror.
import { join } from "node:path";
import { buildProvider, releaseProvider } from "../provider/package.ts";

const root = join(import.meta.dirname, "..");
await buildProvider(root, join(root, "dist", "provider"));
const { version, hash } = await releaseProvider(join(root, "dist", "release"));
console.log(`provider ${version} in dist/provider and dist/release, ${hash}`);
