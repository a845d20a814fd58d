// SPDX-License-Identifier: Apache-2.0

/** How files begin that are encrypted with age. */
export const ageHeads = { armored: "-----BEGIN AGE ENCRYPTED FILE-----", binary: "age-encryption.org/v1\n" } as const;
