// SPDX-License-Identifier: Apache-2.0

/** What a simulated machine does under each fault, in words that follow its name. */
export const faultWords: Readonly<Record<string, string>> = {
  refuse: "refuses connections",
  reset: "breaks connections",
  "half-open": "takes connections and never answers",
  "wrong-certificate": "shows a foreign certificate",
  "expired-certificate": "shows an expired certificate",
  "disk-full": "has no room on its disk",
  "never-back": "does not come back from a reboot",
  "bad-boot": "does not boot what it is upgraded to",
};
