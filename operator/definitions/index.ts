// SPDX-License-Identifier: Apache-2.0
export { type CustomResourceDefinition, customResourceDefinitions } from "./definitions.ts";
