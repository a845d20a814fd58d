// SPDX-License-Identifier: Apache-2.0
export { type ProviderOptions, talosmithProvider } from "./provider.ts";
