// SPDX-License-Identifier: Apache-2.0
// What a handshake needs, without what answers the calls afterwards: the start file loads this alone.
export { listen, type ServeOptions, type Session } from "./listen.ts";
