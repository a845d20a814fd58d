// SPDX-License-Identifier: Apache-2.0

/** True under `npm run test:all`, where every case runs under every tool; `npm test` leaves the longest ones out. */
export const everything = Boolean(process.env.TALOSMITH_TEST_ALL);
