// SPDX-License-Identifier: Apache-2.0
// A door of its own: what a handshake needs, without what answers the calls afterwards.
export { listen, type ServeOptions, type Session } from "./listen.ts";
