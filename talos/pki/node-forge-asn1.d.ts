// SPDX-License-Identifier: Apache-2.0
// The typings describe only the whole of node-forge; we load its ASN.1 part alone, which is small and quick to start.
declare module "node-forge/lib/asn1.js" {
  import type { asn1 } from "node-forge";

  const part: typeof asn1;
  // biome-ignore lint/style/noDefaultExport: this is how a CommonJS module is seen from ESM
  export default part;
}
